package describe

import (
	"fmt"
	"strings"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// minAway is the shortest disconnection that is always reported. A shorter one is reported only if
// something was missed, so that an unstable connection does not fill the transcript with marks.
const minAway = 10 * time.Second

// maxOutcomes is the maximum number of missed decisions listed one by one.
const maxOutcomes = 3

// Away summarizes the events of a session between the loss of a connection and the end of the
// catch-up.
type Away struct {
	since time.Time // when the connection was lost; zero: not known

	reconnected bool // the connection is back and missed events arrive
	mode        string
	reason      string
	from        uint64 // the last seq received before the disconnection
	restarted   bool
	turns       int
	queued      int
	pending     map[string]bool // pending approval requests
	decided     int
	outcomes    []string // of the first maxOutcomes decisions, like "allowed by bob"
}

// Disconnected records the loss of the connection.
func (a *Away) Disconnected(now time.Time) { *a = Away{since: now} }

// Reconnected starts to count missed events. seen is the last seq received before.
func (a *Away) Reconnected(r *protocol.SubscribeResult, seen uint64) {
	*a = Away{
		since:       a.since,
		reconnected: true,
		mode:        r.Mode,
		reason:      r.Reason,
		from:        seen,
		pending:     map[string]bool{},
	}
}

// Long reports whether the disconnection lasted at least minAway.
func (a *Away) Long(now time.Time) bool { return !a.since.IsZero() && now.Sub(a.since) >= minAway }

// Apply counts a missed event.
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
		outcome := string(d.Outcome)
		switch {
		case d.ByRule != "":
			outcome += " by a rule"
		case d.ByPolicy != "":
			outcome += " by the policy " + d.ByPolicy
		case e.By != nil:
			outcome += " by " + e.By.Name
		}
		if a.decided++; len(a.outcomes) < maxOutcomes {
			a.outcomes = append(a.outcomes, outcome)
		}
	}
}

// CaughtUp ends the catch-up at seq and returns the summary, or "" if there is nothing to report.
func (a *Away) CaughtUp(now time.Time, seq uint64) string {
	ended := *a
	*a = Away{}
	if !ended.reconnected {
		return ""
	}
	var away time.Duration
	parts := []string{"you reconnected here"}
	if !ended.since.IsZero() {
		away = now.Sub(ended.since)
	}
	if away >= time.Second {
		parts = append(parts, "away "+format.Duration(away.Truncate(time.Second)))
	}
	missed := ended.missed()
	switch {
	case missed != nil:
	case !ended.Long(now):
		return ""
	case seq > ended.from:
		missed = []string{"the turn went on"}
	default:
		missed = []string{"nothing was missed"}
	}
	return strings.Join(append(parts, missed...), " · ")
}

// missed returns what the user missed, one phrase per fact.
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
	case a.mode != protocol.ModeResume: // missed events do not arrive
		out = append(out, "from a fresh snapshot")
	}
	add(a.turns, "%s ended", format.Count(a.turns, "turn"))
	add(a.queued, "%s queued", format.Count(a.queued, "message"))
	for _, outcome := range a.outcomes {
		out = append(out, "1 approval "+outcome)
	}
	add(a.decided-len(a.outcomes), "%d more decided", a.decided-len(a.outcomes))
	add(len(a.pending), "%s waiting", format.Count(len(a.pending), "approval"))
	return out
}
