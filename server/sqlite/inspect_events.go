package sqlite

import (
	"fmt"
	"maps"
	"slices"
)

// readEvents verifies that the events of every session are complete.
func (i *inspection) readEvents() error {
	known := maps.Clone(i.sessions)
	for n := range i.heads {
		known[n] = i.sessions[n]
	}
	i.events.pending = slices.Sorted(maps.Keys(known))
	t := chunkTable
	if i.quick {
		t.columns = "key, last"
		t.valid = func(q *statement) (int64, bool) { return numberOf(q.intAt(1)), true }
	}
	// Damaged rows and pages show as missing events.
	err := t.each(i.ctx, i.conn, func(q *statement) error {
		i.advance(q)
		if n, ok := t.valid(q); ok && !i.removed[n] && n > 0 {
			return i.addChunk(q, n)
		}
		return nil
	}, func() error { return nil })
	if err != nil {
		return err
	}
	return i.enter(maxNumber + 1)
}

// addChunk takes the events of a valid row.
func (i *inspection) addChunk(q *statement, n int64) error {
	c := seqRangeAt(q, 1)
	if err := i.enter(n); err != nil {
		return err
	}
	if c.first() < i.events.next || c.last < c.first() || c.last > maxSeq {
		return nil // read before
	}
	if err := i.lost(c.first() - 1); err != nil {
		return err
	}
	i.events.next = c.last + 1
	i.report.Events += int64(c.last - c.first() + 1)
	return i.keep(func(r *rebuild) error { return r.addEvents(n, c, q) })
}

// enter ends the sessions before n and begins n.
func (i *inspection) enter(n int64) error {
	e := &i.events
	if n == e.n {
		return nil
	}
	if err := i.leave(); err != nil {
		return err
	}
	for len(e.pending) > 0 && e.pending[0] < n {
		e.n, e.next, e.pending = e.pending[0], 1, e.pending[1:]
		if err := i.leave(); err != nil {
			return err
		}
	}
	if n > maxNumber {
		return nil
	}
	if len(e.pending) > 0 && e.pending[0] == n {
		e.pending = e.pending[1:]
	}
	e.n, e.next = n, 1
	if i.sessions[n] == "" && !i.damaged[n] {
		return i.found(Damage{Part: "session", Detail: fmt.Sprintf("the row of session number %d is lost", n)})
	}
	return nil
}

// leave ends the current session: its events must end where its head says.
func (i *inspection) leave() error {
	n := i.events.n
	if n == 0 {
		return nil
	}
	h, ok := i.heads[n]
	if !ok {
		if err := i.found(Damage{Part: "head", Session: i.sessions[n]}); err != nil {
			return err
		}
	}
	if err := i.lost(h.last); err != nil {
		return err
	}
	i.events.n = 0
	return i.keep(func(r *rebuild) error {
		if i.sessions[n] == "" && !r.known(n) {
			return nil
		}
		return r.endLog(n, i.events.next-1)
	})
}

// lost reports the events up to last that were expected and not found.
func (i *inspection) lost(last uint64) error {
	first := i.events.next
	if first > last {
		return nil
	}
	i.events.next = last + 1
	err := i.found(Damage{Part: "events", Session: i.sessions[i.events.n], First: first, Last: last})
	if err != nil {
		return err
	}
	return i.keep(func(r *rebuild) error { return r.addLost(i.events.n, first, last) })
}
