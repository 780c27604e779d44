package plain

import (
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// setConn writes a change of the connection. Of repeated attempts to reconnect, it writes the
// reason of the first and the advice of the second. Closing gets no line: the next state follows at
// once and has the reason.
func (r *renderer) setConn(conn remote.Conn) {
	if conn.State == r.conn.State && conn.Attempt == r.conn.Attempt {
		return
	}
	old := r.conn.State
	r.conn = conn
	if old == remote.Connected && conn.State != remote.Connected {
		r.away.Disconnected(time.Now())
	}
	switch {
	case conn.State == remote.Connected && old == remote.Reconnecting:
		r.linef("connected again")
	case conn.State == remote.Reconnecting && conn.Attempt <= 1:
		r.linef("%s%s", conn.State, ui.Prefixed(": ", conn.Reason))
	case conn.State == remote.Reconnecting && conn.Attempt == 2:
		r.linef("%s", conn.Advice)
	case conn.State == remote.Offline:
		r.linef("%s%s", conn.State, ui.Prefixed(": ", conn.Reason))
		r.linef("%s", conn.Advice)
	}
}

// setSubscription starts a catch-up. Unless events are resumed, it replaces the state by the
// snapshot and writes its pending approvals and its queue.
func (r *renderer) setSubscription(s *protocol.SubscribeResult) {
	r.caughtUp = false
	if r.state.Session != "" {
		r.away.Reconnected(s, r.state.Seq)
	} else {
		r.statusDue = true
	}
	if s.Mode == protocol.ModeResume || s.Snapshot == nil {
		return
	}
	if s.Mode == protocol.ModeReset {
		r.statusDue = true
		r.linef("%s", describe.Resubscribed(s.Mode, s.Reason))
	}
	r.state = s.Snapshot.State
	r.parts = nil
	r.tools = nil
	if r.state.Session == "" {
		r.state.Session = s.Session
	}
	r.nameDue = true
	if r.state.Agent != "" {
		r.writeSessionName()
	}
	for i := range r.state.Approvals {
		r.writeApproval(&r.state.Approvals[i])
	}
	for i := range r.state.Queue {
		message := &r.state.Queue[i]
		r.linef("queued %d: %s: %s", i+1, remote.ActorName(message.By), message.Text)
	}
}

// writeSessionName writes the session and its agent, once per subscription. For a new session, both
// are known only from its first event.
func (r *renderer) writeSessionName() {
	if r.nameDue {
		r.nameDue = false
		r.linef("session %s%s", remote.SessionName(r.state), ui.Prefixed(", agent ", r.state.Agent))
	}
}

// finishCatchUp ends a catch-up. It writes a summary of the time away and, at first or after a
// reset, the status.
func (r *renderer) finishCatchUp() {
	r.caughtUp = true
	r.writeSessionName()
	r.linef("%s", r.away.CaughtUp(time.Now(), r.state.Seq))
	if r.statusDue {
		r.statusDue = false
		r.linef("now %s", r.statusText())
	}
}

// statusText returns the status of the session, with its pending approvals and its queue.
func (r *renderer) statusText() string {
	s := string(r.state.Status())
	if n := len(r.state.Approvals); n > 0 {
		s += " for " + format.Count(n, "approval")
	}
	if n := len(r.state.Queue); n > 0 {
		s += ", " + format.Count(n, "queued message")
	}
	if hold := r.state.BlockingHold(); hold != nil {
		s += ", queue " + describe.Hold(hold, r.date)
	}
	return s
}
