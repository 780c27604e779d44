package approval

import "time"

// hold delays the decision of a key by typingPause: the key may be the first of a text. Each other key,
// and each change of the request or the focus, cancels the decision. The zero value holds nothing.
type hold struct {
	until   time.Time     // zero: nothing is held
	decide  func() Result // nil: the decision was cancelled
	refusal string        // why, or ""
}

// begin holds a decision until a time. decide is called then.
func (h *hold) begin(until time.Time, decide func() Result) { *h = hold{until: until, decide: decide} }

// cancel cancels the held decision, if any, and reports whether there was one. End returns the refusal.
func (h *hold) cancel(now time.Time, refusal string) (cancelled bool) {
	if h.decide == nil {
		return false
	}
	*h = hold{until: now, refusal: refusal}
	return true
}

// end returns the result of a hold that is over: its decision, or a status message that names
// the reason why it was cancelled.
func (h *hold) end(now time.Time) (r Result, ended bool) {
	if h.until.IsZero() || now.Before(h.until) {
		return Result{}, false
	}
	decide := h.decide
	r.Status = h.refusal
	*h = hold{}
	if decide != nil {
		r = decide()
	}
	return r, true
}
