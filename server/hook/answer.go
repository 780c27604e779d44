package hook

import "agentctl/protocol"

// maxAnswers bounds the links of one question.
const maxAnswers = 10

// usesOf returns the uses of a request's links. A link can allow only a request that it shows
// completely. A link answers a question if it is the only one and has choices; other questions need
// the verb.
func usesOf(a *protocol.Approval, missing int64) (uses []use) {
	switch {
	case missing > 0 || !a.Offers(protocol.AllowOnce):
	case len(a.Questions) == 0:
		uses = append(uses, use{Decision: protocol.AllowOnce})
	case len(a.Questions) == 1 && len(a.Questions[0].Choices) <= maxAnswers:
		q := &a.Questions[0]
		for _, c := range q.Choices {
			if c.ID == "" { // a link without a choice would allow without an answer
				continue
			}
			uses = append(uses, use{Decision: protocol.AllowOnce, Question: q.ID, Choice: c.ID, Label: c.Label})
		}
	}
	if a.Offers(protocol.Deny) {
		uses = append(uses, use{Decision: protocol.Deny})
	}
	return uses
}

// answerCommand returns the program and the arguments that answer the questions of a request, with
// an example for each answer; nil for a request without questions. No shell has to quote them.
func answerCommand(session string, a *protocol.Approval) []string {
	if len(a.Questions) == 0 {
		return nil
	}
	command := []string{"agentctl", "approve"}
	for i, name := range a.AnswerNames() {
		example := "TEXT"
		if names := a.Questions[i].AnswerNames(); len(names) > 0 {
			example = names[0]
		}
		command = append(command, "--answer", name+"="+example)
	}
	return append(command, "--", session, a.Request)
}
