package describe

import (
	"fmt"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// minAway is how long a connection may be gone without being told, unless what was
// missed is worth it: a bad link would else fill the transcript with marks.
const minAway = 10 * time.Second

// maxOutcomes is how many decisions that were missed are told one by one.
const maxOutcomes = 3

// Away is what a session did between the loss of a connection and the end of
// the catch-up after it: what a person comes back to.
type Away struct {
	since time.Time // when the connection was lost; zero: that was not told

	reconnected bool // it is there again, and what was missed comes in
	complete    bool // all that was missed comes in, and not a fresh snapshot
	mode        string
	reason      string
	from        uint64 // the last seq before it
	restarted   bool
	turns       int
	queued      int
	pending     map[string]bool // requests that still wait
	decided     int
	outcomes    []string // the first of them were: "allowed by bob"
}

// Disconnected notes that the connection is gone.
func (a *Away) Disconnected(now time.Time) { *a = Away{since: now} }

// Reconnected begins to count what was missed, after the last seq that was seen.
func (a *Away) Reconnected(r *protocol.SubscribeResult, seen uint64) {
	*a = Away{
		since:       a.since,
		reconnected: true,
		complete:    r.Mode == protocol.ModeResume,
		mode:        r.Mode,
		reason:      r.Reason,
		from:        seen,
		pending:     map[string]bool{},
	}
}

// Long tells that the absence is told even when it was of no matter.
func (a *Away) Long(now time.Time) bool { return !a.since.IsZero() && now.Sub(a.since) >= minAway }

// Apply counts an event.
func (a *Away) Apply(e *protocol.Event) {
	if !a.reconnected {
		return
	}
	switch e.Type {
	case protocol.TurnEnded:
		a.turns++
		a.restarted = a.restarted ||
			remote.DecodeData[protocol.TurnEndedData](e.Data).Code == protocol.CodeServerRestart
	case protocol.TurnStarted:
		a.restarted = a.restarted || remote.DecodeData[protocol.TurnStartedData](e.Data).Resumed
	case protocol.QueueHeld:
		a.restarted = a.restarted || remote.DecodeData[protocol.Hold](e.Data).Reason == protocol.HoldRestart
	case protocol.QueueAdded:
		a.queued++
	case protocol.ApprovalRequested:
		a.pending[remote.DecodeData[protocol.Approval](e.Data).Request] = true
	case protocol.ApprovalResolved:
		d := remote.DecodeData[protocol.ApprovalResolvedData](e.Data)
		delete(a.pending, d.Request)
		how := string(d.Outcome)
		switch {
		case d.ByRule != "":
			how += " by a rule"
		case e.By != nil:
			how += " by " + e.By.Name
		}
		if a.decided++; len(a.outcomes) < maxOutcomes {
			a.outcomes = append(a.outcomes, how)
		}
	}
}

// CaughtUp ends the absence at a seq and says what was missed; "" when that is not
// worth a word.
func (a *Away) CaughtUp(now time.Time, seq uint64) string {
	was := *a
	*a = Away{}
	if !was.reconnected {
		return ""
	}
	var away time.Duration
	said := []string{"you reconnected here"}
	if !was.since.IsZero() {
		away = now.Sub(was.since)
	}
	if away >= time.Second {
		said = append(said, "away "+ui.Duration(away.Truncate(time.Second)))
	}
	missed := was.missed()
	switch {
	case missed != nil:
	case !was.Long(now):
		return ""
	case seq > was.from:
		missed = []string{"the turn went on"}
	default:
		missed = []string{"nothing was missed"}
	}
	return strings.Join(append(said, missed...), " · ")
}

// missed are the things that a person wants to know of.
func (a *Away) missed() []string {
	var out []string
	add := func(n int, format string, args ...any) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	if a.restarted {
		out = append(out, "the server was restarted")
	}
	switch {
	case a.reason != "":
		out = append(out, Resubscribed(a.mode, a.reason))
	case !a.complete:
		out = append(out, "from a fresh snapshot")
	}
	add(a.turns, "%s ended", ui.Count(a.turns, "turn"))
	add(a.queued, "%s queued", ui.Count(a.queued, "message"))
	for _, how := range a.outcomes {
		out = append(out, "1 approval "+how)
	}
	add(a.decided-len(a.outcomes), "%d more decided", a.decided-len(a.outcomes))
	add(len(a.pending), "%s waiting", ui.Count(len(a.pending), "approval"))
	return out
}
