package server

import (
	"errors"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// A subscription is a connection's position in a session's log.
type subscription struct {
	session  string        // constant
	log      *eventlog.Log // constant
	raw      bool          // constant: no folds
	upto     protocol.Position
	caughtUp bool // caught_up was sent; owned by the writer
	fold     fold

	// Guarded by outbox.mu; only the writer changes after.

	after   uint64    // seq of the last event written
	acked   uint64    // seq of the last event acknowledged
	marks   []ackMark // one for each unacknowledged write
	unacked int64     // bytes
	removed bool      // no longer in the outbox
}

// An ackMark is a write of bytes that ended at seq.
type ackMark struct {
	seq   uint64
	bytes int64
}

// ack moves acked forward and returns the bytes acknowledged by that. A seq beyond the last write
// counts as the last write.
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

// acknowledged returns the seq up to which the client is known to have events; without a window,
// the last seq sent. It requires outbox.mu.
func (s *subscription) acknowledged(window int64) uint64 {
	if window == 0 {
		return s.after
	}
	return s.acked
}

// maxWrite bounds the bytes of events in one write, unless a single event is larger.
const maxWrite = 64 << 10

// farBehind is the distance in events from which a client that had caught up reads folds again.
// Nearer clients read from memory, which costs less than reading folds from the store.
const farBehind = 1024

// next returns the lines that a subscription has to write now, within the window, and caught_up at
// its place. A client without unacknowledged bytes gets at least one event. It returns nil if there
// are none. The lines may be part of buf.
func (c *conn) next(s *subscription, buf []byte) []byte {
	after, room, owing := c.room(s)
	if room <= 0 {
		if c.stall(room) {
			return nil
		}
		return c.next(s, buf) // acknowledged since
	}
	if s.fold.holds(s.log, after, c.Wake) {
		return nil
	}
	visible := s.log.Position().Seq
	folded := !s.raw && (!s.caughtUp || visible-after > farBehind)
	lines, last, err := s.read(after, visible, folded, int(min(room, maxWrite)), buf)
	if err != nil {
		c.failSubscription(s, err)
		return nil
	}
	lines, open := s.fold.join(lines)
	if owing && int64(len(lines)) > room { // a single event larger than the window
		if c.stall(room) {
			return nil
		}
		return c.next(s, buf)
	}
	if !c.wrote(s, last, int64(len(lines))) {
		return nil
	}
	if last > after {
		s.fold.wrote(open, last >= visible)
		c.server.traffic.delivered(last-after, len(lines))
	}
	if !s.caughtUp && last >= s.upto.Seq {
		s.caughtUp = true
		e := protocol.Event{
			Session: s.session,
			Type:    protocol.CaughtUp,
			Time:    time.Now(),
			Data: protocol.MustEncode(
				protocol.CaughtUpData{Position: protocol.Position{Epoch: s.upto.Epoch, Seq: last}},
			),
		}
		lines = append(e.AppendJSON(slices.Clip(lines)), '\n')
	}
	return lines
}

// failSubscription ends a subscription whose log cannot be read, and notifies the client: the
// session was deleted, or its log is damaged.
func (c *conn) failSubscription(s *subscription, err error) {
	told := eventlog.ReadErrorFor(s.session, err)
	if errors.Is(err, eventlog.ErrNotFound) {
		told = protocol.Errorf(protocol.CodeNoSession, "the session was removed")
	} else {
		c.server.log.Error("read log", "session", s.session, "err", err)
	}
	if !c.fail(s) {
		return
	}
	c.server.hub.Detach(s.session, c.id, string(told.Code))
	e := protocol.Event{Session: s.session, Type: protocol.ClientDetached, Time: time.Now(), Data: protocol.MustEncode(
		protocol.Client{Client: c.id, By: c.Actor(), Reason: string(told.Code), Message: told.Message})}
	c.Notify("failed "+s.session, e.AppendJSON(nil))
}
