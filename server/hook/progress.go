package hook

import (
	"context"
	"errors"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

const (
	retryInterval = 5 * time.Second // after the store failed
	unsavedEvents = 1000            // without a notification, until a position is recorded
)

// A progress is a hook's reading position. It belongs to its runner.
type progress struct {
	positions *positions
	sessions  map[string]*place
	unread    []string // sessions with unread events, in turn
	retryAt   time.Time
}

// A place is a hook's place in a session.
type place struct {
	epoch  string
	read   uint64 // the last event looked at
	mark   mark
	unread bool // the session is in the list of unread ones
}

// A mark holds the fields of a summary that change with an event that has a notification.
type mark struct {
	turns, approvals int
	turn             string
	reason           protocol.Reason
}

func markOf(s *protocol.Summary) mark { return mark{s.Turns, s.Approvals, s.Turn, s.Reason} }

// begin starts at the recorded positions; a new hook has none, and starts at the ends of sessions.
func (r *runner) begin(list []protocol.Summary) {
	p := &r.progress
	p.sessions = map[string]*place{}
	former := p.positions.at
	p.positions.at = map[string]protocol.Position{}
	for i := range list {
		s := &list[i]
		at := protocol.Position{Epoch: s.Epoch, Seq: s.Seq}
		if former != nil {
			at.Seq = min(former[s.Session].Seq, s.Seq) // a log that lost its end is shorter
		}
		p.positions.at[s.Session] = at
		p.sessions[s.Session] = &place{epoch: s.Epoch, read: at.Seq, mark: markOf(s)}
		if at.Seq < s.Seq {
			p.push(s.Session)
		}
		if s.Approvals > 0 && !s.SubAgent && r.hook.DenyAfter > 0 && r.hook.Filter.matches(s) {
			r.expect(s.Session, time.Now())
		}
	}
	if err := p.positions.rewrite(); err != nil {
		r.log.Error("record positions", "hook", r.hook.Name, "err", err)
	}
}

// look reads further events of a session if its summary shows that there may be a notification.
func (r *runner) look(id string) {
	p := &r.progress
	s, ok := r.sessions.Summary(id)
	if !ok {
		delete(p.sessions, id)
		delete(p.positions.at, id)
		return
	}
	at := p.sessions[id]
	if at == nil {
		at = &place{}
		p.sessions[id] = at
	}
	at.epoch = s.Epoch
	m := markOf(&s)
	if m == at.mark && m.approvals == 0 {
		return
	}
	at.mark = m
	p.push(id)
}

// push adds a session to the unread ones.
func (p *progress) push(id string) {
	if at := p.sessions[id]; !at.unread {
		at.unread = true
		p.unread = append(p.unread, id)
	}
}

// readNext reads a part of the first unread session. It returns false if all sessions are read.
func (r *runner) readNext(ctx context.Context) bool {
	p := &r.progress
	if len(p.unread) == 0 || time.Now().Before(p.retryAt) {
		return false
	}
	id := p.unread[0]
	p.unread = p.unread[1:]
	at := p.sessions[id]
	if at == nil {
		return true // removed
	}
	at.unread = false
	found, last, err := r.reader.read(ctx, id, at.read)
	if damaged := (*eventlog.CorruptError)(nil); errors.As(err, &damaged) {
		r.log.Error("events cannot be read: the hook skips them", "hook", r.hook.Name, "session", id, "err", err)
		last, err = damaged.Last, nil
	}
	if err != nil && ctx.Err() == nil {
		r.log.Error("read events", "hook", r.hook.Name, "session", id, "err", err)
		p.retryAt = time.Now().Add(retryInterval)
		p.push(id)
		return true
	}
	for _, o := range found {
		if o.typ == TypeRequested && r.hook.DenyAfter > 0 {
			r.expect(id, o.time.Add(r.hook.DenyAfter))
		}
		r.add(o)
	}
	if last > at.read {
		at.read = last
		p.push(id)
		return true
	}
	queued := func(o occurrence) bool { return o.session == id }
	if last > p.positions.at[id].Seq+unsavedEvents && !slices.ContainsFunc(r.queue, queued) {
		if err := p.done(&occurrence{session: id, seq: last}); err != nil {
			r.log.Error("record position", "hook", r.hook.Name, "err", err)
		}
	}
	return true
}

// done records that everything up to an occurrence is done with.
func (p *progress) done(o *occurrence) error {
	at := p.sessions[o.session]
	if at == nil {
		return nil // removed
	}
	return p.positions.set(o.session, protocol.Position{Epoch: at.epoch, Seq: o.seq})
}

// save records the positions of all sessions that have nothing queued, and closes the file.
func (p *progress) save(queue []occurrence) error {
	busy := map[string]bool{}
	for _, o := range queue {
		busy[o.session] = true
	}
	for id, at := range p.sessions {
		if !busy[id] {
			p.positions.at[id] = protocol.Position{Epoch: at.epoch, Seq: at.read}
		}
	}
	return errors.Join(p.positions.rewrite(), p.positions.close())
}
