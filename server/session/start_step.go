package session

import (
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/record"
)

var _ agent.StartWatcher = (*host)(nil)

// Starting implements agent.StartWatcher.
func (h *host) Starting(step string) {
	at := time.Now()
	h.s.mail.post(func() {
		if h.s.host == h {
			h.s.slot.SetStep(step, at)
			h.s.publishProcess()
		}
	})
}

// publishProcess sends the state of the agent's process to the subscribers, and to the connection whose
// create waits for the agent.
func (s *Session) publishProcess() {
	p := s.slot.Info(s.spec.IdleEnd)
	if p == nil {
		return
	}
	s.subscribers.Broadcast(protocol.AgentProcessChanged, p)
	if notify := s.slot.Creator(); notify != nil {
		notify("agent "+s.id, record.Ephemeral(protocol.AgentProcessChanged, s.id, p))
	}
}
