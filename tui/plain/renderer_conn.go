package plain

import (
	"time"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

func (n *renderer) setConn(l remote.Conn) {
	if l.State == n.conn.State && l.Attempt == n.conn.Attempt {
		return
	}
	was := n.conn.State
	n.conn = l
	if was == remote.Connected && l.State != remote.Connected {
		n.absence.Disconnected(time.Now())
	}
	switch {
	case l.State == remote.Connected && was == remote.Reconnecting:
		n.line("connected again")
	case l.State == remote.Reconnecting && l.Attempt <= 1:
		n.line("%s%s", l.State, ui.Prefixed(": ", l.Reason))
	case l.State == remote.Reconnecting && l.Attempt == 2:
		n.line("%s", l.Advice)
	case l.State == remote.Offline:
		n.line("%s%s", l.State, ui.Prefixed(": ", l.Reason))
		n.line("%s", l.Advice)
	}
}

func (n *renderer) attached(a *protocol.SubscribeResult) {
	n.caughtUp = false
	if n.state.Session != "" {
		n.absence.Reconnected(a, n.state.Seq)
	} else {
		n.statusDue = true
	}
	if a.Mode == protocol.ModeResume || a.Snapshot == nil {
		return
	}
	if a.Mode == protocol.ModeReset {
		n.statusDue = true
		n.line("%s", describe.Resubscribed(a.Mode, a.Reason))
	}
	n.state = a.Snapshot.State
	clear(n.parts)
	clear(n.tools)
	if n.state.Session == "" {
		n.state.Session = a.Session
	}
	n.nameDue = true
	if n.state.Agent != "" {
		n.introduce()
	}
	for i := range n.state.Approvals {
		n.approval(&n.state.Approvals[i])
	}
	for i := range n.state.Queue {
		n.line("queued %d: %s: %s", i+1, remote.ActorName(n.state.Queue[i].By), n.state.Queue[i].Text)
	}
}

// introduce tells who the session is. Its beginning is known from the first event
// alone.
func (n *renderer) introduce() {
	if n.nameDue {
		n.nameDue = false
		n.line("session %s%s", remote.SessionName(n.state), ui.Prefixed(", agent ", n.state.Agent))
	}
}

// caughtUpNow ends a catch-up: what was missed is told, or at first how the session
// stands.
func (n *renderer) caughtUpNow() {
	n.caughtUp = true
	n.introduce()
	n.line("%s", n.absence.CaughtUp(time.Now(), n.state.Seq))
	if n.statusDue {
		n.statusDue = false
		n.line("now %s", n.statusText())
	}
}

// statusText is what the session does and what waits in it.
func (n *renderer) statusText() string {
	s := string(n.state.Status())
	if k := len(n.state.Approvals); k > 0 {
		s += " for " + ui.Count(k, "approval")
	}
	if k := len(n.state.Queue); k > 0 {
		s += ", " + ui.Count(k, "queued message")
	}
	if h := n.state.BlockingHold(); h != nil {
		s += ", queue " + describe.Hold(h)
	}
	return s
}
