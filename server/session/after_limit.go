package session

import (
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/limit"
	"agentctl/server/session/queue"
	"agentctl/server/session/record"
)

// queueAfter returns the events of the queue after a turn with a message.
func queueAfter(s *Session, t *turn, m protocol.Message, end agent.End) []record.Event {
	if end.Reason != protocol.ReasonLimited {
		if end.Reason == protocol.ReasonCompleted || end.Reason == protocol.ReasonDenied {
			s.limits.Passed()
		}
		return queue.EndTurn(s.state, t.queue, NewID(idHold), t.by)
	}
	ended := limit.Ended{Message: m, Now: time.Now(), HoldID: NewID(idHold), NextID: NewID(idMessage)}
	if end.Limit != nil {
		ended.Limit = *end.Limit
	}
	ended.TookIn = ended.TookIn || m.Work // no message is to be sent again
	return s.limits.End(s.state, &ended)
}

// afterLimit returns the choice of n continuations by the sender of the command; nil: none.
func (c *command) afterLimit(n int) *agent.AfterLimit {
	if n <= 0 {
		return nil
	}
	choice := &agent.AfterLimit{Most: n, By: c.By}
	if c.Grant != nil {
		choice.Credential = c.Grant()
	}
	return choice
}

// setAfterLimit changes the choice to continue after limits.
func setAfterLimit(s *Session, cmd *command, value string) (any, error) {
	n, err := limit.Choose(value)
	if err != nil {
		return nil, err
	}
	s.recorder.RecordAll(s.limits.Choose(s.state, cmd.afterLimit(n), time.Now(), NewID(idMessage))...)
	s.recorder.RecordAll(optionsEvent(s, &cmd.By))
	s.scheduleTimer()
	return protocol.Empty{}, nil
}
