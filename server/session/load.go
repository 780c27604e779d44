package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"agentctl/protocol"
)

// loadState folds a session's stored snapshot and the stored events after it.
func loadState(ctx context.Context, store Store, rec Record) (*protocol.State, error) {
	state := &protocol.State{Session: rec.ID}
	if len(rec.Snapshot) > 0 {
		if err := json.Unmarshal(rec.Snapshot, state); err != nil {
			return nil, fmt.Errorf("decode snapshot of %s: %w", rec.ID, err)
		}
	}
	var buf []byte
	for state.Seq < rec.Head {
		lines, last, err := store.Read(ctx, rec.ID, state.Seq, rec.Head, true, 256<<10, buf[:0])
		if err != nil {
			return nil, fmt.Errorf("read events of %s: %w", rec.ID, err)
		}
		if last == state.Seq {
			return nil, fmt.Errorf("events of %s end at %d, not %d", rec.ID, last, rec.Head)
		}
		for line := range bytes.Lines(lines) {
			var e protocol.Event
			if err := json.Unmarshal(line, &e); err != nil {
				return nil, fmt.Errorf("decode event of %s after %d: %w", rec.ID, state.Seq, err)
			}
			if err := state.Apply(&e); err != nil {
				return nil, fmt.Errorf("fold events of %s: %w", rec.ID, err)
			}
		}
		buf = lines
	}
	return state, nil
}

func specOf(rec Record) (Spec, error) {
	spec := Spec{Session: rec.ID}
	if err := json.Unmarshal(rec.Spec, &spec); err != nil {
		return spec, fmt.Errorf("decode spec of %s: %w", rec.ID, err)
	}
	return spec, nil
}

// newSession makes a session in memory; the caller starts run.
func (h *Hub) newSession(id, epoch string, head uint64, spec Spec) *Session {
	s := &Session{
		id: id, hub: h, inbox: make(chan func()), output: make(chan *emission, 256), stop: h.stop, done: make(chan struct{}),
		spec: spec, editors: map[string]editor{}, touched: time.Now(), timer: time.NewTimer(time.Hour),
		journal: journal{
			log: newLog(id, epoch, h.cfg.Store, head), committer: h.committer,
			state: &protocol.State{Session: id}, committed: make(chan error, 1),
		},
	}
	s.spec.Session = id
	s.host = &host{s}
	s.approvals.reset()
	s.background, s.halt = context.WithCancel(context.Background())
	return s
}

// load brings a session into memory and goes on where it was.
func (h *Hub) load(ctx context.Context, id string) (*Session, error) {
	rec, err := h.cfg.Store.Session(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", id, err)
	}
	state, err := loadState(ctx, h.cfg.Store, rec)
	if err != nil {
		return nil, err
	}
	spec, err := specOf(rec)
	if err != nil {
		return nil, err
	}
	s := h.newSession(id, rec.Epoch, rec.Head, spec)
	s.state, s.boundary, s.boundSeq, s.live = state, rec.Snapshot, rec.SnapSeq, rec.Live
	s.recover()
	s.arm()
	go s.run()
	return s, nil
}

// boundaryState returns the state at the end of the last turn, or that of a session without events.
func (s *Session) boundaryState() *protocol.State {
	state := &protocol.State{Session: s.id}
	if s.boundary != nil {
		if err := json.Unmarshal(s.boundary, state); err != nil {
			s.hub.log.Error("decode snapshot", "session", s.id, "err", err)
		}
	}
	return state
}
