package sessionview

import (
	"time"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
)

// replica is the session as its updates have described it. The view owns it; its parts read it.
type replica struct {
	conn     remote.Conn
	epoch    string
	state    *protocol.State
	clients  map[string]protocol.Client
	caughtUp bool
	ended    bool // no more updates will come
	catchup  catchup
	away     describe.Away
}

func newReplica() *replica {
	return &replica{
		conn: remote.Conn{State: remote.Connecting}, state: &protocol.State{}, clients: map[string]protocol.Client{},
	}
}

// connected reports whether commands reach the server now.
func (r *replica) connected() bool { return r.conn.State == remote.Connected }

// setConn notes the state of the connection.
func (r *replica) setConn(c remote.Conn, now time.Time) {
	if c.Connection == "" {
		c.Connection, c.By = r.conn.Connection, r.conn.By
	}
	if r.connected() && c.State != remote.Connected {
		r.away.Disconnected(now)
	}
	r.conn = c
}

// attach begins a catch-up. It reports whether the state was replaced, else the events continue it.
func (r *replica) attach(a *protocol.SubscribeResult) (replaced bool) {
	if r.state.Session != "" {
		r.away.Reconnected(a, r.state.Seq)
	}
	r.caughtUp = false
	r.catchup = catchup{a.After.Seq, a.Position.Seq}
	clear(r.clients)
	for _, c := range a.Clients {
		r.clients[c.Client] = c
	}
	if a.Mode == protocol.ModeResume || a.Snapshot == nil {
		return false
	}
	r.epoch, r.state = a.Snapshot.Epoch, a.Snapshot.State
	if r.state.Session == "" {
		r.state.Session = a.Session
	}
	return true
}

// progress returns how far a long catch-up is, in percent, or -1.
func (r *replica) progress() int { return r.catchup.percent(r.state.Seq) }

// longCatchup is the number of events from which on a catch-up shows its progress.
const longCatchup = 500

// catchup is the range of seqs that a catch-up covers.
type catchup struct{ from, to uint64 }

// percent returns how much of the range lies before seq, or -1 for a short range.
func (c catchup) percent(seq uint64) int {
	if c.to < c.from+longCatchup {
		return -1
	}
	done := max(c.from, min(seq, c.to)) - c.from
	return int(100 * done / (c.to - c.from))
}
