package session

import (
	"cmp"
	"slices"
	"time"

	"agentctl/protocol"
)

// A Peer is a connection that follows sessions. The session never waits for it: no method may block.
type Subscriber interface {
	Waker

	// ID is unique among the server's connections.
	ID() string

	// Actor is who acts through the connection, and Program what program it is.
	Actor() protocol.Actor
	Program() string

	// Notify queues an ephemeral event (a line without its newline); of those with one key only the newest is sent.
	Notify(key string, line []byte)

	// Acked returns how far the client has acknowledged the session (as far as it was written, when it does not
	// acknowledge) and how many bytes it was sent beyond that.
	Acked(session string) (seq uint64, bytes int64)
}

// An Attachment is what a subscription starts with.
type Attachment struct {
	Result protocol.SubscribeResult
	Log    *Log
}

// audience is who follows a session.
type audience struct {
	peers  []*follower
	lagDue time.Time // when lag is looked at next; zero: not due
}

type follower struct {
	peer   Subscriber
	client protocol.Client // as told last
	behind bool            // told to be behind
}

const (
	lagPeriod = time.Second
	lagEvents = 64 // a client less behind than this is not worth telling
)

func (u *audience) connected(conn string) bool {
	return slices.ContainsFunc(u.peers, func(f *follower) bool { return f.peer.ID() == conn })
}

// attach lets a peer follow the session from one point on: what it is told and the log from Result.After on fit together
// without gap or repeat. reply is called once everything the answer tells is visible.
func (s *Session) attach(p Subscriber, d *protocol.SubscribeData, reply func(*Attachment, error)) {
	if s.deltas.Len() > catchUp {
		s.cut() // so that a late joiner need not read the open run delta by delta
	}
	s.log.leave(p) // when it attaches again
	s.audience.peers = slices.DeleteFunc(s.audience.peers, func(f *follower) bool { return f.peer.ID() == p.ID() })
	client := protocol.Client{Client: p.ID(), By: p.Actor(), Agent: p.Program()}
	s.audience.tell(protocol.ClientAttached, s.id, client)
	s.audience.peers = append(s.audience.peers, &follower{peer: p, client: client})
	s.changed = true
	s.touched = time.Now()
	s.then(func(failed error) {
		if !s.ending {
			failed = nil // a commit that failed has taken back what it held: there is nothing to be told of it
		}
		if failed == nil && !s.audience.connected(p.ID()) {
			failed = protocol.Errorf(protocol.CodeNotSubscribed, "unsubscribed meanwhile")
		}
		if failed != nil {
			s.detach(p.ID(), "")
			reply(nil, failed)
			return
		}
		s.log.leave(p) // when it attached twice meanwhile
		s.log.join(p)
		reply(&Attachment{Result: s.attached(d), Log: s.log}, nil)
	})
}

// attached makes the answer to a subscribe.
func (s *Session) attached(d *protocol.SubscribeData) protocol.SubscribeResult {
	now := s.log.Position()
	r := protocol.SubscribeResult{Session: s.id, Mode: protocol.ModeSnapshot, Position: now, Clients: s.audience.clients(s)}
	if p := d.Position; p != nil {
		switch {
		case p.Epoch != "" && p.Epoch != now.Epoch:
			r.Mode, r.Reason = protocol.ModeReset, protocol.ResetEpoch
		case p.Seq > now.Seq:
			r.Mode, r.Reason = protocol.ModeReset, protocol.ResetPastEnd
		default:
			r.Mode, r.After = protocol.ModeResume, protocol.Position{Epoch: now.Epoch, Seq: p.Seq}
			return r
		}
	}
	r.After = protocol.Position{Epoch: now.Epoch, Seq: s.boundSeq}
	r.Snapshot = &protocol.Snapshot{Epoch: now.Epoch, State: s.boundaryState()}
	return r
}

// detach ends what attach began.
func (s *Session) detach(conn, reason string) {
	i := slices.IndexFunc(s.audience.peers, func(f *follower) bool { return f.peer.ID() == conn })
	if i < 0 {
		return
	}
	f := s.audience.peers[i]
	s.audience.peers = slices.Delete(s.audience.peers, i, i+1)
	s.log.leave(f.peer)
	f.client.Reason = reason
	s.audience.tell(protocol.ClientDetached, s.id, f.client)
	s.leaveEdits(conn)
	s.changed = true
	s.touched = time.Now()
	s.arm()
}

// tell tells every follower an ephemeral event; of a client's events only the newest is kept for it.
func (u *audience) tell(typ protocol.Type, session string, data any) {
	key := string(typ) + " " + session
	if c, ok := data.(protocol.Client); ok {
		key = "client " + session + " " + c.Client
	}
	line := ephemeral(typ, session, data)
	for _, f := range u.peers {
		f.peer.Notify(key, line)
	}
}

// ephemeral encodes an event without a seq.
func ephemeral(typ protocol.Type, session string, data any) []byte {
	e := protocol.Event{Session: session, Type: typ, Time: time.Now(), Data: protocol.MustEncode(data)}
	return e.AppendJSON(nil)
}

// clients returns who follows the session now, by name.
func (u *audience) clients(s *Session) []protocol.Client {
	list := make([]protocol.Client, 0, len(u.peers))
	for _, f := range u.peers {
		f.measure(s)
		list = append(list, f.client)
	}
	slices.SortFunc(list, func(a, b protocol.Client) int {
		return cmp.Or(cmp.Compare(a.By.Name, b.By.Name), cmp.Compare(a.Client, b.Client))
	})
	return list
}

func (f *follower) measure(s *Session) {
	seq, bytes := f.peer.Acked(s.id)
	f.client.Acked, f.client.LagBytes, f.client.LagEvents = seq, bytes, 0
	if at := s.log.Position().Seq; at > seq {
		f.client.LagEvents = at - seq
	}
}

// moved notes that the log moved on, so that lag is worth a look soon.
func (u *audience) moved() {
	if len(u.peers) > 0 && u.lagDue.IsZero() {
		u.lagDue = time.Now().Add(lagPeriod)
	}
}

// lookAtLag tells whose lag changed, and looks again later while somebody is behind.
func (u *audience) lookAtLag(s *Session, now time.Time) {
	if u.lagDue.IsZero() || now.Before(u.lagDue) {
		return
	}
	u.lagDue = time.Time{}
	for _, f := range slices.Clone(u.peers) {
		was := f.client
		f.measure(s)
		behind := f.client.LagEvents >= lagEvents
		if (behind || f.behind) && f.client != was {
			u.tell(protocol.ClientLag, s.id, f.client)
		}
		f.behind = behind
		if behind {
			u.lagDue = now.Add(lagPeriod)
		}
	}
}
