package approval

import (
	"slices"
	"strings"

	"agentctl/protocol"
)

// beginOption marks an option as being sent and returns the data of the command. If the form is
// incomplete, it sets the error message and returns false.
func (f *Form) beginOption(request string, o *decisionOption) (protocol.ApproveData, bool) {
	if f.incomplete(o) {
		f.err = "no question is answered yet"
		return protocol.ApproveData{}, false
	}
	f.sending, f.err = o.name(len(f.questions) > 0), ""
	return f.data(request, o), true
}

// data returns the data of the approve command.
func (f *Form) data(request string, o *decisionOption) protocol.ApproveData {
	d := protocol.ApproveData{Request: request, Option: o.ID, Reason: f.fullReason()}
	if o.ID == "" {
		d.Decision = o.Kind
	}
	switch {
	case o.revise:
		d.Input = &protocol.ApprovalInput{Replan: true}
	case !o.allows():
	case len(f.questions) > 0:
		d.Input = &protocol.ApprovalInput{Answers: f.answers.all(f.questions)}
	case f.plan.changed():
		d.Input = &protocol.ApprovalInput{Tasks: f.plan.remaining()}
	default:
		d.Input = f.edit.input()
	}
	return d
}

// fullReason returns the reason that the user wrote, then the comments on the changes, one a line.
func (f *Form) fullReason() string {
	return strings.Trim(f.reason.text+"\n"+f.reason.comments.Text(), "\n")
}

// incomplete reports whether the option allows a request with questions and no question has an
// answer.
func (f *Form) incomplete(o *decisionOption) bool {
	return o.allows() && len(f.questions) > 0 && len(f.answers.all(f.questions)) == 0
}

// all returns the answers by question ID, without unanswered questions.
func (a *answers) all(questions []protocol.Question) map[string][]string {
	out := map[string][]string{}
	for _, q := range questions {
		given := slices.Clone(a.choices[q.ID])
		if text := a.text[q.ID]; text != "" {
			given = append(given, text)
		}
		if len(given) > 0 {
			out[q.ID] = given
		}
	}
	return out
}
