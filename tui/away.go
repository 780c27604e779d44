package tui

import (
	"fmt"
	"strings"
	"time"

	"agentctl/protocol"
)

// blink is how long a connection may be gone without being told, unless what was
// missed is worth it: a bad link would else fill the transcript with marks.
const blink = 10 * time.Second

// decisionsTold is how many decisions that were missed are told one by one.
const decisionsTold = 3

// absence is what a session did between the loss of a connection and the end of
// the catch-up after it: what a person comes back to.
type absence struct {
	since time.Time // when the connection was lost; zero: that was not told

	back      bool // it is there again, and what was missed comes in
	whole     bool // all that was missed comes in, and not a fresh snapshot
	mode      string
	reason    string
	from      uint64 // the last seq before it
	restarted bool
	turns     int
	queued    int
	asked     map[string]bool // requests that still wait
	decided   int
	how       []string // the first of them were: "allowed by bob"
}

// lost notes that the connection is gone.
func (a *absence) lost(now time.Time) { *a = absence{since: now} }

// returns begins to count what was missed, after the last seq that was seen.
func (a *absence) returns(r *protocol.SubscribeResult, seen uint64) {
	*a = absence{since: a.since, back: true, whole: r.Mode == protocol.ModeResume, mode: r.Mode, reason: r.Reason, from: seen, asked: map[string]bool{}}
}

// long tells that the absence is told even when it was of no matter.
func (a *absence) long(now time.Time) bool { return !a.since.IsZero() && now.Sub(a.since) >= blink }

// saw counts an event.
func (a *absence) saw(e *protocol.Event) {
	if !a.back {
		return
	}
	switch e.Type {
	case protocol.TurnEnded:
		a.turns++
		a.restarted = a.restarted || decode[protocol.TurnEndedData](e.Data).Code == protocol.CodeServerRestart
	case protocol.TurnStarted:
		a.restarted = a.restarted || decode[protocol.TurnStartedData](e.Data).Resumed
	case protocol.QueueHeld:
		a.restarted = a.restarted || decode[protocol.Hold](e.Data).Reason == protocol.HoldRestart
	case protocol.QueueAdded:
		a.queued++
	case protocol.ApprovalRequested:
		a.asked[decode[protocol.Approval](e.Data).Request] = true
	case protocol.ApprovalResolved:
		d := decode[protocol.ApprovalResolvedData](e.Data)
		delete(a.asked, d.Request)
		how := string(d.Outcome)
		switch {
		case d.ByRule != "":
			how += " by a rule"
		case e.By != nil:
			how += " by " + e.By.Name
		}
		if a.decided++; len(a.how) < decisionsTold {
			a.how = append(a.how, how)
		}
	}
}

// over ends the absence at a seq and says what was missed; "" when that is not
// worth a word.
func (a *absence) over(now time.Time, seq uint64) string {
	was := *a
	*a = absence{}
	if !was.back {
		return ""
	}
	var away time.Duration
	said := []string{"you reconnected here"}
	if !was.since.IsZero() {
		away = now.Sub(was.since)
	}
	if away >= time.Second {
		said = append(said, "away "+Duration(away.Truncate(time.Second)))
	}
	missed := was.missed()
	switch {
	case missed != nil:
	case !was.long(now):
		return ""
	case seq > was.from:
		missed = []string{"the turn went on"}
	default:
		missed = []string{"nothing was missed"}
	}
	return strings.Join(append(said, missed...), " · ")
}

// missed are the things that a person wants to know of.
func (a *absence) missed() []string {
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
		out = append(out, reattached(a.mode, a.reason))
	case !a.whole:
		out = append(out, "from a fresh snapshot")
	}
	add(a.turns, "%s ended", Count(a.turns, "turn"))
	add(a.queued, "%s queued", Count(a.queued, "message"))
	for _, how := range a.how {
		out = append(out, "1 approval "+how)
	}
	add(a.decided-len(a.how), "%d more decided", a.decided-len(a.how))
	add(len(a.asked), "%s waiting", Count(len(a.asked), "approval"))
	return out
}
