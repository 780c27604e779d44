package approval

import (
	"slices"
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/review"
)

// check reports whether an option can be taken with the answers. Otherwise it shows why not.
func (f *Form) check(o *decisionOption) bool {
	question, problem := f.answers.check()
	if problem == "" || !o.allows() {
		return true
	}
	f.err = problem
	f.rows.selectQuestion(question)
	return false
}

// send returns the data of the command that takes an option, and makes the form read-only until the
// answer.
func (f *Form) send(o *decisionOption) protocol.ApproveData {
	f.sending, f.err = o.name(), ""
	return f.data(o)
}

// data returns the data of the approve command.
func (f *Form) data(o *decisionOption) protocol.ApproveData {
	d := protocol.ApproveData{Request: f.request, Option: o.ID, Reason: f.reason.full()}
	if o.ID == "" {
		d.Decision = o.Kind
	}
	switch {
	case o.revise:
		d.Input = &protocol.ApprovalInput{Replan: true}
	case !o.allows():
	case len(f.answers.questions) > 0:
		d.Input = f.answers.input()
	case f.plan.changed():
		d.Input = &protocol.ApprovalInput{Tasks: f.plan.remaining()}
	default:
		d.Input = f.edit.input()
	}
	return d
}

// decided records the answer to the decision that is being sent. message is the error message, or ""
// if the decision was accepted. Its texts are gone then, unless the request only gets an explanation.
func (f *Form) decided(message string) {
	explain := f.options.ofKind(protocol.Explain)
	explained := explain != nil && f.sending == explain.name()
	if f.sending, f.err = "", message; message == "" && !explained {
		f.accepted = true
		f.answers.text, f.reason = map[string]string{}, reason{}
		f.plan.titles, f.edit.text = map[string]string{}, nil
	}
}

// decidedHere reports whether a decision was sent from here and not refused.
func (f *Form) decidedHere() bool { return f.accepted || f.sending != "" }

// text returns all that the user wrote in the form, without secrets. It saves what is being written.
func (f *Form) text() string {
	if f.input != nil {
		f.saveText()
	}
	f.reason.saveComment()
	out := f.answers.written()
	for i := range f.plan.tasks {
		out = append(out, f.plan.titles[f.plan.tasks[i].ID])
	}
	out = append(out, f.edit.written(), f.reason.full())
	return strings.Join(slices.DeleteFunc(out, func(s string) bool { return s == "" }), "\n")
}

// reason is what the user writes about a decision.
type reason struct {
	text     string
	comments review.Comments // on the changes
	review   *review.View    // in which they are written, or nil
}

// full returns the reason that the user wrote, then the comments on the changes, one a line.
func (r *reason) full() string { return strings.Trim(r.text+"\n"+r.comments.Text(), "\n") }

// commenting reports whether a comment is being written.
func (r *reason) commenting() bool { return r.review != nil && r.review.Commenting() }

// saveComment saves the comment that is being written, if any.
func (r *reason) saveComment() {
	if r.review != nil {
		r.review.SaveComment()
	}
}

// label returns the label of the reason after the name of its key: how many comments are sent with it.
func (r *reason) label() string {
	if n := r.comments.Len(); n > 0 {
		return " reason with " + format.Count(n, "comment") + ":"
	}
	return " reason:"
}
