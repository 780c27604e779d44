package session

import (
	"context"
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/approval"
	"agentctl/server/session/idempotency"
	"agentctl/server/session/output"
	"agentctl/server/session/presence"
	"agentctl/server/session/stored"
)

// A boundary is the state at the end of the last visible turn, encoded.
type boundary struct {
	snapshot []byte // nil: no turn has ended
	seq      uint64
}

// readTimeout bounds reading a session from the store.
const readTimeout = 30 * time.Second

// newSession makes a session in memory. The caller starts run.
func (h *Hub) newSession(id, epoch string, head uint64, spec agent.Spec) *Session {
	s := &Session{
		id: id, hub: h, mail: newMailbox(),
		lifetime: lifetime{stop: h.sessions.stop},
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
	found, err := stored.Read(ctx, h.cfg.Store, h.specs, id)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller logs it
	}
	s := h.newSession(id, found.Epoch, found.Head, found.Spec)
	s.adopt(found)
	if len(found.Spec.SealedEnv) > 0 && !s.state.Closed {
		s.reportLostEnv()
	}
	h.list.SetQueued(id, firstQueued(found.State))
	s.recover()
	s.scheduleTimer()
	go s.run()
	return s, nil
}

// adopt sets the session to what the store holds.
func (s *Session) adopt(found *stored.Session) {
	s.state, s.spec, s.published.live = found.State, found.Spec, found.Live
	s.spec.OwnDirectories = s.hub.cfg.OwnDirectories // not stored
	var sum protocol.Summary
	if json.Unmarshal(found.Summary, &sum) == nil {
		s.published.output, s.published.active = output.StoredLine(&sum), sum.Updated
	}
	s.boundary = boundary{found.Snapshot, found.SnapSeq}
}

// reportLostEnv records that the variables given to the session are lost.
func (s *Session) reportLostEnv() {
	s.recordIn("", protocol.Notice, nil, protocol.NoticeData{
		Level: protocol.LevelWarning,
		Message: "the variables given to this session cannot be decrypted: its agent runs without them; " +
			"the key is the file env.key of the server that created the session",
	})
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
