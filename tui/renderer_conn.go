package tui

import (
	"time"

	"agentctl/tui/remote"

	"agentctl/protocol"
)

func (n *narrator) linked(l remote.Conn) {
	if l.State == n.link.State && l.Attempt == n.link.Attempt {
		return
	}
	was := n.link.State
	n.link = l
	if was == remote.Connected && l.State != remote.Connected {
		n.absence.lost(time.Now())
	}
	switch {
	case l.State == remote.Connected && was == remote.Reconnecting:
		n.line("connected again")
	case l.State == remote.Reconnecting && l.Attempt <= 1:
		n.line("%s%s", l.State, because(l.Reason))
	case l.State == remote.Reconnecting && l.Attempt == 2:
		n.line("%s", l.Advice)
	case l.State == remote.Offline:
		n.line("%s%s", l.State, because(l.Reason))
		n.line("%s", l.Advice)
	}
}

func (n *narrator) attached(a *protocol.SubscribeResult) {
	n.caughtUp = false
	if n.state.Session != "" {
		n.absence.returns(a, n.state.Seq)
	} else {
		n.standing = true
	}
	if a.Mode == protocol.ModeResume || a.Snapshot == nil {
		return
	}
	if a.Mode == protocol.ModeReset {
		n.standing = true
		n.line("%s", reattached(a.Mode, a.Reason))
	}
	n.state = a.Snapshot.State
	clear(n.voices)
	clear(n.tools)
	if n.state.Session == "" {
		n.state.Session = a.Session
	}
	n.unnamed = true
	if n.state.Agent != "" {
		n.introduce()
	}
	for i := range n.state.Approvals {
		n.asks(&n.state.Approvals[i])
	}
	for i := range n.state.Queue {
		n.line("queued %d: %s: %s", i+1, remote.ActorName(n.state.Queue[i].By), n.state.Queue[i].Text)
	}
}

// introduce tells who the session is. Its beginning is known from the first event
// alone.
func (n *narrator) introduce() {
	if n.unnamed {
		n.unnamed = false
		n.line("session %s%s", remote.SessionName(n.state), Prefixed(", agent ", n.state.Agent))
	}
}

// arrived ends a catch-up: what was missed is told, or at first how the session
// stands.
func (n *narrator) arrived() {
	n.caughtUp = true
	n.introduce()
	n.line("%s", n.absence.over(time.Now(), n.state.Seq))
	if n.standing {
		n.standing = false
		n.line("now %s", n.stands())
	}
}

// stands is what the session does and what waits in it.
func (n *narrator) stands() string {
	s := string(n.state.Status())
	if k := len(n.state.Approvals); k > 0 {
		s += " for " + Count(k, "approval")
	}
	if k := len(n.state.Queue); k > 0 {
		s += ", " + Count(k, "queued message")
	}
	if h := n.state.BlockingHold(); h != nil {
		s += ", queue " + holdText(h)
	}
	return s
}
