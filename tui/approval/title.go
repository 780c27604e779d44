package approval

import (
	"fmt"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// expiresSoon is the remaining time at or below which the countdown is shown as an error.
const expiresSoon = 30 * time.Second

// title draws the title of a request.
type title struct {
	styles *ui.Styles
	name   string // of the session, or ""
}

// line returns the place, kind, length and times of a request.
func (t *title) line(r *protocol.Approval, f *Form, place string) string {
	out := t.styles.Warning.Render("approval")
	if t.name != "" {
		out += " · " + t.name
	}
	return out + place + " · " + KindName(r.Kind) + f.card.size() + t.expiry(r, f.arrived) + t.asked(r)
}

// ofReview returns the title of the review of a request.
func (t *title) ofReview(r *protocol.Approval) string {
	if t.name != "" {
		return t.name + keymap.Separator + KindName(r.Kind)
	}
	return KindName(r.Kind)
}

// asked returns when a request was made and, if its turn is an agent's, by which one.
func (t *title) asked(r *protocol.Approval) string {
	out := t.styles.Dim.Render(" · asked " + t.styles.Clock(r.Asked))
	if asker := describe.Asker(r); asker != "" {
		out += t.styles.Warning.Render(" " + asker)
	}
	return out
}

// expiry returns the remaining time of a request, or "". For a request that arrived live it uses
// only the duration, because the server's clock may differ. arrived is zero for any other.
func (t *title) expiry(r *protocol.Approval, arrived time.Time) string {
	if r.Expires == nil {
		return ""
	}
	now := t.styles.Now()
	left := r.Expires.Sub(now)
	if !arrived.IsZero() {
		left = r.Expires.Sub(r.Asked) - now.Sub(arrived)
	}
	switch {
	case left <= 0:
		return t.styles.Error.Render(" · expires now")
	case left <= expiresSoon:
		return t.styles.Error.Render(fmt.Sprintf(" · expires in %ds", format.SecondsLeft(left)))
	}
	return t.styles.Warning.Render(" · expires in " + format.Duration(time.Duration(format.SecondsLeft(left))*time.Second))
}

// KindName returns the name of a kind of request.
func KindName(kind string) string {
	switch kind {
	case protocol.ApproveCommand, protocol.ApprovePatch, protocol.ApproveTool, protocol.ApprovePlan,
		protocol.ApproveQuestion:
		return kind
	}
	return "request"
}
