package sessionview

import (
	"cmp"
	"time"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
)

// replica is the session as described by its updates. The view owns it; its parts read it.
type replica struct {
	conn     remote.Conn
	epoch    string
	state    *protocol.State
	clients  map[string]protocol.Client
	caughtUp bool
	ended    bool // no more updates will come
	recorded bool // it is a recording, which takes no commands
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

// setConn sets the state of the connection.
func (r *replica) setConn(c remote.Conn, now time.Time) {
	if c.Connection == "" {
		c.Connection, c.By = r.conn.Connection, r.conn.By
	}
	if r.connected() && c.State != remote.Connected {
		r.away.Disconnected(now)
	}
	r.conn = c
}

// attach starts a catch-up. It reports whether the state was replaced; if not, the events continue
// the old state.
func (r *replica) attach(a *protocol.SubscribeResult) (replaced bool) {
	if r.state.Session != "" && !r.recorded {
		r.away.Reconnected(a, r.state.Seq)
	}
	if r.conn.State == remote.Connecting && !r.recorded {
		r.conn.State = remote.Connected // the connection's own update may come after the attachment
	}
	r.caughtUp = false
	r.catchup = catchup{a.After.Seq, a.Position.Seq}
	clear(r.clients)
	for _, c := range a.Clients {
		r.clients[c.Client] = c
	}
	if a.Mode == protocol.ModeResume || a.Snapshot == nil {
		r.epoch = cmp.Or(a.After.Epoch, r.epoch)
		return false
	}
	r.epoch, r.state = a.Snapshot.Epoch, a.Snapshot.State
	if r.state.Session == "" {
		r.state.Session = a.Session
	}
	return true
}

// lag returns the number of events that this client does not have yet, by the server's last report.
func (r *replica) lag() uint64 {
	c := r.clients[r.conn.Connection]
	return max(c.Acked+c.LagEvents, r.state.Seq) - r.state.Seq
}

// progress returns the progress of a long catch-up in percent, or -1.
func (r *replica) progress() int { return r.catchup.percent(r.state.Seq) }

// longCatchup is the minimum number of events for a catch-up to show its progress.
const longCatchup = 500

// catchup is the range of seqs of a catch-up.
type catchup struct{ from, to uint64 }

// percent returns the part of the range up to seq in percent, or -1 for a short range.
func (c catchup) percent(seq uint64) int {
	if c.to < c.from+longCatchup {
		return -1
	}
	done := max(c.from, min(seq, c.to)) - c.from
	return int(100 * done / (c.to - c.from))
}
