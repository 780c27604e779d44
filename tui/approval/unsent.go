package approval

import "strings"

// Unsent is what a user wrote in the forms of requests that were decided elsewhere, expired or were
// cancelled.
type Unsent struct {
	Text   string // answers, an edited command, the reason and comments
	Typing bool   // a text field had the keys, that of a comment too
}

// unsent holds what removed requests have left.
type unsent struct {
	left Unsent
	sent map[string]*Form // by ID: the decision has no answer yet
}

// keep keeps the texts of the form of a removed request. Texts that are being sent wait for the
// answer: the event that removes a request does not say which of two equal decisions was first.
func (u *unsent) keep(f *Form) {
	if f.sending != "" {
		u.sent[f.request] = f
		return
	}
	u.left.Typing = u.left.Typing || f.Typing() || f.reason.commenting()
	u.add(f.text())
}

// answered applies the answer to a decision on a removed request. It returns false if no removed
// request waits for it.
func (u *unsent) answered(request, message string) bool {
	f := u.sent[request]
	if f == nil {
		return false
	}
	delete(u.sent, request)
	f.decided(message)
	u.add(f.text())
	return true
}

func (u *unsent) add(text string) { u.left.Text = strings.Trim(u.left.Text+"\n"+text, "\n") }

// take returns what is left, and forgets it.
func (u *unsent) take() Unsent {
	out := u.left
	u.left = Unsent{}
	return out
}
