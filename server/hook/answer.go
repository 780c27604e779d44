package hook

import (
	"slices"

	"agentctl/protocol"
)

// maxAnswers bounds the links of one question.
const maxAnswers = 10

// usesOf returns the uses of a request's links. A link can allow only a request that it shows
// completely: not one to open a page, whose URL it does not have. The only question is answered by a
// link for each choice, and all questions by a link whose page is a form.
func usesOf(a *protocol.Approval, missing int64) (uses []use) {
	switch {
	case missing > 0 || !a.Offers(protocol.AllowOnce) || a.Page != nil:
	case len(a.Questions) == 0:
		uses = append(uses, use{Decision: protocol.AllowOnce})
	default:
		if q := &a.Questions[0]; len(a.Questions) == 1 && len(q.Choices) <= maxAnswers {
			for _, c := range q.Choices {
				if _, err := q.Check([]string{c.ID}); c.ID == "" || err != nil { // it would not be an answer
					continue
				}
				uses = append(uses, use{Decision: protocol.AllowOnce, Question: q.ID, Choice: c.ID, Label: c.Label})
			}
		}
		if hasIDs(a.Questions) {
			uses = append(uses, use{Decision: protocol.AllowOnce, Form: true})
		}
	}
	if a.Offers(protocol.Deny) {
		uses = append(uses, use{Decision: protocol.Deny})
	}
	return uses
}

// hasIDs reports whether all questions and choices have the ids that answers name.
func hasIDs(questions []protocol.Question) bool {
	return !slices.ContainsFunc(questions, func(q protocol.Question) bool {
		return q.ID == "" || slices.ContainsFunc(q.Choices, func(c protocol.Choice) bool { return c.ID == "" })
	})
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
