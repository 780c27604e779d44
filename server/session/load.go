package session

import (
	"context"
	"time"

	"agentctl/internal/redact"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/approval"
	"agentctl/server/session/confinement"
	"agentctl/server/session/idempotency"
	"agentctl/server/session/limit"
	"agentctl/server/session/presence"
	"agentctl/server/session/recorder"
	"agentctl/server/session/stored"
)

// readTimeout bounds reading a session from the store.
const readTimeout = 30 * time.Second

// newSession makes a session in memory. The caller starts run.
func (h *Hub) newSession(id, epoch string, head uint64, spec agent.Spec) *Session {
	s := &Session{
		id: id, hub: h, mail: newMailbox(),
		state:   &protocol.State{Session: id},
		journal: eventlog.NewJournal(eventlog.NewLog(id, epoch, h.cfg.Store, h.cache, head), h.committer),
		spec:    spec, secrets: new(redact.Values), subscribers: presence.New[Subscriber](id),
		deadlines: deadlines{touched: time.Now(), timer: time.NewTimer(time.Hour)},
	}
	s.spec.Session, s.spec.OwnDirectories = id, h.cfg.OwnDirectories
	s.confinement = confinement.New(h.cfg.Agents, h.cfg.Confine)
	s.idempotency = idempotency.NewCache(id, h.cfg.Store, s.journal)
	s.recorder = recorder.New(s.state, s.journal, s.logger, h.list.Update)
	s.background, s.cancelBackground = context.WithCancel(context.Background())
	s.limits = limit.Limits{Choice: &s.spec.AfterLimit, Store: s.storeSpec, Permits: h.cfg.Permits}
	s.approvals = approval.New(storedDecisions(s.background, h.cfg.Store, id))
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
	if len(found.Spec.SealedEnv)+len(found.Spec.SealedMCPServers) > 0 && !s.state.Closed {
		s.recorder.RecordIn("", protocol.Notice, nil, protocol.NoticeData{
			Level: protocol.LevelWarning,
			Message: "the variables and MCP servers given to this session cannot be decrypted: " +
				"its agent runs without them; the key is the file env.key of the server that created the session",
		})
	}
	h.list.SetQueued(id, recorder.FirstQueued(found.State))
	s.recover()
	s.scheduleTimer()
	go s.run()
	return s, nil
}

// adopt sets the session to its stored state.
func (s *Session) adopt(found *stored.Session) {
	s.recorder.Adopt(&found.Record, found.State)
	s.spec = found.Spec
	s.spec.OwnDirectories = s.hub.cfg.OwnDirectories // not stored
}
