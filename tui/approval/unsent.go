package approval

import (
	"slices"
	"strings"

	"agentctl/protocol"
)

// Unsent is what a user wrote in the forms of requests that were decided elsewhere, expired or were
// cancelled.
type Unsent struct {
	Text   string // answers, an edited command, the reason and comments
	Typing bool   // a text field had the keys, that of a comment too
}

// add adds a text after the others.
func (u *Unsent) add(text string) { u.Text = strings.Trim(u.Text+"\n"+text, "\n") }

// TakeUnsent returns what requests that were removed have left, and forgets it. After Update that is
// the text of requests without a decision from here, after Decided the text of a decision that was
// not accepted.
func (p *Panel) TakeUnsent() Unsent {
	out := p.unsent
	p.unsent = Unsent{}
	return out
}

// remove removes the form of a request and keeps its texts. Those that are being sent wait for the
// answer: the event that removes a request does not say which of two equal decisions was first.
func (p *Panel) remove(request string) {
	f := p.forms[request]
	delete(p.forms, request)
	if f.sending != "" {
		p.sent[request] = f
		return
	}
	p.unsent.Typing = p.unsent.Typing || f.Typing() || f.reason.review != nil && f.reason.review.Commenting()
	p.unsent.add(f.text())
}

// Written reports whether the user wrote something about a request that is not sent.
func (p *Panel) Written() bool {
	for _, f := range p.forms {
		if f.sending == "" && f.text() != "" {
			return true
		}
	}
	return false
}

// text returns all that the user wrote in the form.
func (f *Form) text() string {
	if f.input != nil {
		f.saveText(strings.TrimSpace(f.input.Value()))
	}
	if f.reason.review != nil {
		f.reason.review.SaveComment()
	}
	var out []string
	for i := range f.questions {
		out = append(out, f.answers.text[f.questions[i].ID])
	}
	for i := range f.plan.tasks {
		out = append(out, f.plan.titles[f.plan.tasks[i].ID])
	}
	switch {
	case f.edit.field != nil:
		out = append(out, f.edit.field.Text())
	case f.edit.command && f.edit.text != nil:
		out = append(out, *f.edit.text)
	}
	out = append(out, f.fullReason())
	return strings.Join(slices.DeleteFunc(out, func(s string) bool { return s == "" }), "\n")
}

// decided records the response to the decision that is being sent; see Panel.Decided.
func (f *Form) decided(message string) {
	explain := f.optionOfKind(protocol.Explain)
	explained := explain != nil && f.sending == explain.name(len(f.questions) > 0)
	if f.sending, f.err = "", message; message == "" && !explained {
		f.clearText()
	}
}

// clearText removes all that the user wrote in the form: it was sent.
func (f *Form) clearText() {
	f.answers.text, f.reason = map[string]string{}, reason{}
	f.plan.titles, f.edit.text = map[string]string{}, nil
}
