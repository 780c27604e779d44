package approval

import "time"

const (
	// Grace is the time without a key press after which a request accepts a decision. It protects the
	// request from keys pressed before it was visible or had the focus.
	Grace = 600 * time.Millisecond

	// typingPause is the shortest time between a deciding key and the keys before and after it. Shorter
	// ones are typed text or a repeated key.
	typingPause = 150 * time.Millisecond
)

// Reasons why a key decides nothing.
const (
	tooSoon  = "not decided: the request is new, press the key again in a moment"
	tooQuick = "not decided: the keys came too fast, press it again"
	replaced = "not decided: this is another request now, press the key again"
	altered  = "not decided: the request changed, press the key again in a moment"
	left     = "not decided: the keys went elsewhere"
	gone     = "not decided: the request is no longer pending"
)

// Guard blocks the decision of a request until Grace has passed without a key since the request was
// drawn with the focus, or changed. The first key after that only confirms that the request was seen
// if it took the place of another one without a key of the user. Keys in quick succession decide
// nothing, not even the first one: its decision is held for typingPause. The zero value blocks decisions
// until Change is called.
type Guard struct {
	drawn    bool      // with the focus, since the last change
	armed    bool      // the grace period is over
	until    time.Time // end of the grace period
	replaced bool      // another request took the place of the former one, and no key confirmed it
	last     time.Time // time of the last key
	refusal  string    // why the last key decides nothing, or ""
	held     hold      // the decision of the last key
}

// New returns the end of the grace period, or zero if it is over.
func (g *Guard) New() time.Time {
	if g.armed {
		return time.Time{}
	}
	return g.until
}

// Refusal returns why the key being handled may not decide, or "" if it may. Touch must have been
// called for it.
func (g *Guard) Refusal() string {
	if !g.armed {
		return tooSoon
	}
	return g.refusal
}

// Change blocks decisions and cancels the held one: the request changes now, or gets the focus.
func (g *Guard) Change(now time.Time) {
	g.held.cancel(now, altered)
	g.drawn, g.armed, g.until = false, false, now.Add(Grace)
}

// Replace is Change for a request that takes the place of another one without a key of the user.
func (g *Guard) Replace(now time.Time) {
	g.held.cancel(now, replaced)
	g.Change(now)
	g.replaced = true
}

// Choose is Change for a request that a key of the user shows.
func (g *Guard) Choose(now time.Time) {
	g.Change(now)
	g.replaced = false
}

// Drawn records that the request is drawn with the focus. The first drawing after a change starts the
// grace period.
func (g *Guard) Drawn(now time.Time) {
	if !g.drawn {
		g.drawn, g.until = true, now.Add(Grace)
	}
}

// Touch records a key press. It restarts the grace period unless that is over, and cancels the held
// decision.
func (g *Guard) Touch(now time.Time) {
	quick := g.held.cancel(now, tooQuick) || now.Sub(g.last) < typingPause
	g.last = now
	switch {
	case !g.armed:
		g.until, g.refusal = now.Add(Grace), tooSoon
	case quick:
		g.refusal = tooQuick
	case g.replaced:
		g.replaced, g.refusal = false, replaced
	default:
		g.refusal = ""
	}
}

// Hold delays the decision of the last key.
func (g *Guard) Hold(decide func() Result) {
	g.held = hold{until: g.last.Add(typingPause), decide: decide}
}

// Deadline returns the time to end the hold and to call Arm, or zero if there is none.
func (g *Guard) Deadline() time.Time {
	if g.armed || !g.held.until.IsZero() {
		return g.held.until // before the end of a grace period
	}
	return g.until
}

// Arm makes the request accept decisions if the grace period is over, and reports whether this call
// did so. A request that is not drawn then waits for its drawing, or for a key.
func (g *Guard) Arm(now time.Time) (armed bool) {
	switch {
	case g.armed || g.until.IsZero() || now.Before(g.until):
		return false
	case !g.drawn:
		g.until = time.Time{}
		return false
	}
	g.armed = true
	return true
}

// hold delays the decision of a key by typingPause: the key may be the first of a text. Each other key,
// and each change of the request or the focus, cancels the decision. The zero value holds nothing.
type hold struct {
	until   time.Time     // zero: nothing is held
	decide  func() Result // called then; nil: the decision was cancelled
	refusal string        // why, or ""
}

// cancel cancels the held decision, if any, and reports whether there was one. end returns the refusal.
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
