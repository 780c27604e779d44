package stored

import (
	"context"
	"encoding/json"
	"fmt"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

// A Session is a session as stored.
type Session struct {
	eventlog.Record
	State *protocol.State // at Record.Head
	Spec  agent.Spec      // instead of the spec in Record
}

// Store is the part of a store that has sessions.
type Store interface {
	eventlog.Reader

	// Session returns one session's record, or eventlog.ErrNotFound.
	Session(ctx context.Context, id string) (eventlog.Record, error)
}

// Read reads a session.
func Read(ctx context.Context, store Store, specs *Specs, id string) (*Session, error) {
	rec, err := store.Session(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", id, err)
	}
	state, err := readState(ctx, store, rec)
	if err != nil {
		return nil, err
	}
	spec, err := specs.Open(rec)
	return &Session{rec, state, spec}, err
}

// readState applies the stored events after a session's stored snapshot to it.
func readState(ctx context.Context, store eventlog.Reader, rec eventlog.Record) (*protocol.State, error) {
	state := &protocol.State{Session: rec.ID}
	if len(rec.Snapshot) > 0 {
		if err := json.Unmarshal(rec.Snapshot, state); err != nil {
			return nil, fmt.Errorf("decode snapshot of %s: %w", rec.ID, err)
		}
	}
	for e, err := range eventlog.Events(ctx, store, rec.ID, state.Seq, rec.Head) {
		if err != nil {
			return nil, fmt.Errorf("read events of %s: %w", rec.ID, err)
		}
		if err := state.Apply(e); err != nil {
			return nil, fmt.Errorf("apply events of %s: %w", rec.ID, err)
		}
	}
	if state.Seq < rec.Head {
		return nil, fmt.Errorf("events of %s end at %d, not %d", rec.ID, state.Seq, rec.Head)
	}
	return state, nil
}
