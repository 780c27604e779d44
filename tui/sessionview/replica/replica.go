package replica

import (
	"cmp"
	"time"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
)

// minLag is the minimum number of events for a lag to be shown.
const minLag = 20

// Session is a session as described by its updates. Its owner applies them; others only read it.
type Session struct {
	Conn     remote.Conn
	Epoch    string // "" before the first snapshot
	State    *protocol.State
	Clients  map[string]protocol.Client
	CaughtUp bool
	Ended    bool // no more updates will come

	Process *protocol.AgentProcess // of an agent that is starting; nil: it is not

	Recorded bool // it is a recording, which takes no commands

	catchup struct{ from, to uint64 } // range of seqs
	away    describe.Away
}

// New returns the replica of a session without updates.
func New() *Session {
	return &Session{
		Conn: remote.Conn{State: remote.Connecting}, State: &protocol.State{}, Clients: map[string]protocol.Client{},
	}
}

// Connected reports whether commands reach the server now.
func (s *Session) Connected() bool { return s.Conn.State == remote.Connected }

// SetConn sets the state of the connection.
func (s *Session) SetConn(c remote.Conn, now time.Time) {
	if c.Connection == "" {
		c.Connection, c.By = s.Conn.Connection, s.Conn.By
	}
	if s.Connected() && c.State != remote.Connected {
		s.away.Disconnected(now)
	}
	s.Conn = c
}

// Retry shows that an attempt to connect starts now.
func (s *Session) Retry() {
	s.Conn.Retry = time.Time{}
	if s.Conn.State == remote.Offline {
		s.Conn = remote.Conn{State: remote.Connecting, Connection: s.Conn.Connection, By: s.Conn.By}
	}
}

// Attach starts a catch-up. It reports whether the state was replaced; if not, the events continue
// the old state.
func (s *Session) Attach(a *protocol.SubscribeResult) (replaced bool) {
	if s.State.Session != "" && !s.Recorded {
		s.away.Reconnected(a, s.State.Seq)
	}
	if s.Conn.State == remote.Connecting && !s.Recorded {
		s.Conn.State = remote.Connected // the connection's own update may come after the attachment
	}
	s.CaughtUp = false
	s.catchup.from, s.catchup.to = a.After.Seq, a.Position.Seq
	s.Process = a.Process
	clear(s.Clients)
	for _, c := range a.Clients {
		s.Clients[c.Client] = c
	}
	if a.Mode == protocol.ModeResume || a.Snapshot == nil {
		s.Epoch = cmp.Or(a.After.Epoch, s.Epoch)
		return false
	}
	s.Epoch, s.State = a.Snapshot.Epoch, a.Snapshot.State
	if s.State.Session == "" {
		s.State.Session = a.Session
	}
	return true
}

// LongAway reports whether the session was disconnected long enough to mark the place in the
// transcript.
func (s *Session) LongAway(now time.Time) bool { return s.away.Long(now) }

// Apply applies an event to the state or the list of clients.
func (s *Session) Apply(e *protocol.Event) error {
	switch e.Type {
	case protocol.ClientAttached, protocol.ClientLag:
		c := remote.DecodeData[protocol.Client](e.Data)
		s.Clients[c.Client] = *c
		return nil
	case protocol.ClientDetached:
		delete(s.Clients, remote.DecodeData[protocol.Client](e.Data).Client)
		return nil
	}
	if e.Type == protocol.AgentProcessChanged {
		s.Process = remote.DecodeData[protocol.AgentProcess](e.Data)
		if s.Process.Phase != protocol.ProcessStarting {
			s.Process = nil
		}
	}
	if !e.Durable() {
		return nil
	}
	s.away.Apply(e)
	return s.State.Apply(e)
}

// FinishCatchup ends a catch-up. It returns a summary of the missed events, or "".
func (s *Session) FinishCatchup(now time.Time) (summary string) {
	s.CaughtUp = true
	return s.away.CaughtUp(now, s.State.Seq)
}

// Position returns the position of the last event applied, or zero before the first snapshot.
func (s *Session) Position() protocol.Position {
	if s.Epoch == "" {
		return protocol.Position{}
	}
	return protocol.Position{Epoch: s.Epoch, Seq: s.State.Seq}
}

// Lag returns the number of events that this client does not have yet, by the server's last report.
// It returns 0 for a lag too short to be shown.
func (s *Session) Lag() uint64 {
	c := s.Clients[s.Conn.Connection]
	if lag := max(c.Acked+c.LagEvents, s.State.Seq) - s.State.Seq; lag >= minLag {
		return lag
	}
	return 0
}

// Slowest returns the other client with the largest lag. ok is false if no lag is long enough to be
// shown.
func (s *Session) Slowest() (slowest protocol.Client, ok bool) {
	for id, c := range s.Clients {
		if id == s.Conn.Connection {
			continue
		}
		if c.LagEvents > slowest.LagEvents || c.LagEvents == slowest.LagEvents && c.Client < slowest.Client {
			slowest = c
		}
	}
	return slowest, slowest.LagEvents >= minLag
}

// longCatchup is the minimum number of events for a catch-up to show its progress.
const longCatchup = 500

// Progress returns the progress of a long catch-up in percent, or -1.
func (s *Session) Progress() int {
	from, to := s.catchup.from, s.catchup.to
	if to < from+longCatchup {
		return -1
	}
	done := max(from, min(s.State.Seq, to)) - from
	return int(100 * done / (to - from))
}
