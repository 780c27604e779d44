package server

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/session"
)

// A subscription is a connection's place in a session's log.
type subscription struct {
	session string       // constant
	log     *session.Log // constant
	raw     bool         // constant
	upto    protocol.Position
	told    bool // caught_up; owned by the writer

	// Guarded by conn.mu; after is changed by the writer alone.

	after   uint64 // written up to here
	acked   uint64 // received up to here
	marks   []mark // what was written and not acknowledged, a mark for each write
	unacked int64
	dropped bool // no longer the connection's
}

// A mark says that a write of so many bytes ended at seq.
type mark struct {
	seq   uint64
	bytes int64
}

// ack moves acked forward and returns how many bytes that settles. Nothing beyond what was written can be acknowledged.
func (s *subscription) ack(seq uint64) int64 {
	seq = min(seq, s.after)
	if seq <= s.acked {
		return 0
	}
	s.acked = seq
	n := 0
	var bytes int64
	for n < len(s.marks) && s.marks[n].seq <= seq {
		bytes += s.marks[n].bytes
		n++
	}
	s.marks = slices.Delete(s.marks, 0, n)
	s.unacked -= bytes
	return bytes
}

// drop removes the subscription of a session; c.mu is held.
func (c *conn) drop(id string) bool {
	i := slices.IndexFunc(c.subs, func(s *subscription) bool { return s.session == id })
	if i < 0 {
		return false
	}
	c.unacked -= c.subs[i].unacked
	c.subs[i].dropped = true
	c.subs = slices.Delete(c.subs, i, i+1)
	return true
}

// Acked implements session.Peer.
func (c *conn) Acked(id string) (uint64, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.subs {
		if s.session == id {
			if c.window == 0 {
				return s.after, 0
			}
			return s.acked, s.unacked
		}
	}
	return 0, 0
}

// maxWrite is how many bytes of events one write takes at most, unless one event is larger.
const maxWrite = 64 << 10

// farBehind is the distance, in events, from which a client that had caught up is caught up again, with folds. One that is
// nearer is served from memory, which costs less than reading folds from the store.
const farBehind = 1024

// next returns what a subscription has to write now: whole lines within the window, and caught_up where it belongs. A client
// always gets at least one event beyond what it has acknowledged. nil: nothing now. The lines may lie in buf.
func (c *conn) next(s *subscription, buf []byte) []byte {
	c.mu.Lock()
	after, room, owed := s.after, int64(math.MaxInt64), c.unacked > 0
	if c.window > 0 {
		room = c.window - c.unacked
	}
	c.mu.Unlock()
	if room <= 0 {
		return nil
	}
	folded := !s.raw && (!s.told || s.log.Position().Seq-after > farBehind)
	lines, last, err := s.log.Read(context.Background(), after, folded, int(min(room, maxWrite)), buf)
	if err != nil {
		c.lost(s, err)
		return nil
	}
	if owed && int64(len(lines)) > room { // one event alone, and more than may be owed
		return nil
	}
	c.mu.Lock()
	dropped := s.dropped
	if last != after && !dropped {
		s.after = last
		if c.window > 0 {
			s.marks = append(s.marks, mark{last, int64(len(lines))})
			s.unacked += int64(len(lines))
			c.unacked += int64(len(lines))
		}
	}
	c.mu.Unlock()
	if dropped {
		return nil
	}
	if !s.told && last >= s.upto.Seq {
		s.told = true
		e := protocol.Event{
			Session: s.session, Type: protocol.CaughtUp, Time: time.Now(),
			Data: protocol.MustEncode(protocol.CaughtUpData{Position: protocol.Position{Epoch: s.upto.Epoch, Seq: last}}),
		}
		lines = append(e.AppendJSON(slices.Clip(lines)), '\n')
	}
	return lines
}

// lost ends a subscription whose log cannot be read: the session was deleted, or its bytes are damaged.
func (c *conn) lost(s *subscription, err error) {
	reason := protocol.CodeStorage
	if errors.Is(err, session.ErrNotFound) {
		reason = protocol.CodeNoSession
	} else {
		c.server.log.Error("read log", "session", s.session, "err", err)
	}
	c.mu.Lock()
	dropped := s.dropped
	if !dropped {
		c.drop(s.session)
	}
	c.mu.Unlock()
	if dropped {
		return
	}
	c.server.hub.Detach(s.session, c.id, string(reason))
	e := protocol.Event{Session: s.session, Type: protocol.ClientDetached, Time: time.Now(), Data: protocol.MustEncode(
		protocol.Client{Client: c.id, By: c.Actor(), Reason: string(reason)})}
	c.Notify("lost "+s.session, e.AppendJSON(nil))
}
