package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/approval"
	"agentctl/server/session/idempotency"
	"agentctl/server/session/output"
	"agentctl/server/session/presence"
)

// A boundary is the state at the end of the last visible turn, encoded.
type boundary struct {
	snapshot []byte // nil: no turn has ended
	seq      uint64
}

// loadState applies the stored events after a session's stored snapshot to it.
func loadState(ctx context.Context, store Store, rec eventlog.Record) (*protocol.State, error) {
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

// readTimeout bounds reading a session from the store.
const readTimeout = 30 * time.Second

// readSession reads a session's record, state and spec.
func (h *Hub) readSession(
	ctx context.Context, id string,
) (rec eventlog.Record, state *protocol.State, spec agent.Spec, err error) {
	if rec, err = h.cfg.Store.Session(ctx, id); err != nil {
		return rec, nil, spec, fmt.Errorf("read session %s: %w", id, err)
	}
	if state, err = loadState(ctx, h.cfg.Store, rec); err != nil {
		return rec, nil, spec, err
	}
	spec, err = h.readSpec(rec)
	return rec, state, spec, err
}

// decodeSpec decodes the stored spec of a record.
func decodeSpec(rec eventlog.Record) (agent.Spec, error) {
	spec := agent.Spec{Session: rec.ID}
	if err := json.Unmarshal(rec.Spec, &spec); err != nil {
		return spec, fmt.Errorf("decode spec of %s: %w", rec.ID, err)
	}
	return spec, nil
}

// newSession makes a session in memory. The caller starts run.
func (h *Hub) newSession(id, epoch string, head uint64, spec agent.Spec) *Session {
	s := &Session{
		id: id, hub: h, mailbox: newMailbox(),
		lifetime: lifetime{stop: h.stop, done: make(chan struct{})},
		state:    &protocol.State{Session: id},
		journal:  eventlog.NewJournal(eventlog.NewLog(id, epoch, h.cfg.Store, h.cache, head), h.committer),
		spec:     spec, subscribers: presence.New[Subscriber](id),
		deadlines: deadlines{lastActivity: time.Now(), timer: time.NewTimer(time.Hour)},
	}
	s.spec.Session, s.spec.OwnDirectories = id, h.cfg.OwnDirectories
	s.idempotency = idempotency.NewCache(id, h.cfg.Store, s.journal)
	s.approvals = approval.New(s.storedDecision)
	s.background, s.cancelBackground = context.WithCancel(context.Background())
	return s
}

// load brings a session into memory, recovers it and starts its goroutine.
func (h *Hub) load(ctx context.Context, id string) (*Session, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	rec, state, spec, err := h.readSession(ctx, id)
	if err != nil {
		return nil, err
	}
	s := h.newSession(id, rec.Epoch, rec.Head, spec)
	s.adopt(rec, state, spec)
	if len(spec.SealedEnv) > 0 && !s.state.Closed {
		s.reportLostEnv()
	}
	h.list.SetQueued(id, firstQueued(state))
	s.recover()
	s.scheduleTimer()
	go s.run()
	return s, nil
}

// adopt sets the session to what the store holds.
func (s *Session) adopt(rec eventlog.Record, state *protocol.State, spec agent.Spec) {
	s.state, s.spec, s.published.live = state, spec, rec.Live
	var sum protocol.Summary
	if json.Unmarshal(rec.Summary, &sum) == nil {
		s.published.output, s.published.active = output.StoredLine(&sum), sum.Updated
	}
	s.boundary = boundary{rec.Snapshot, rec.SnapSeq}
}

// boundaryState decodes the state at the last turn boundary; before the first one it is that of a
// session without events.
func (s *Session) boundaryState() *protocol.State {
	state := &protocol.State{Session: s.id}
	if s.boundary.snapshot != nil {
		if err := json.Unmarshal(s.boundary.snapshot, state); err != nil {
			s.logger().Error("decode snapshot", "err", err)
		}
	}
	return state
}
