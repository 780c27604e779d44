package session

import (
	"context"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/record"
)

var _ agent.WorkHost = (*host)(nil)

// Begin implements agent.WorkHost.
func (h *host) Begin(ctx context.Context, w agent.Work) error {
	return h.s.mail.await(ctx, func(begun func(error)) { beginWork(ctx, h.s, w, h, begun) })
}

// beginWork starts a turn of work of a host's agent, after the current turn, if one runs: in the session of
// the agent, or in that of a sub-agent, whose requests the host's session decides. It runs on the session's
// goroutine. It calls begun once, when the work runs or cannot run.
func beginWork(ctx context.Context, s *Session, w agent.Work, from *host, begun func(error)) {
	own := from.s == s
	switch {
	case ctx.Err() != nil:
		begun(ctx.Err())
		return
	case s.state.Closed:
		begun(protocol.Errorf(protocol.CodeSessionClosed, "session %s is closed", s.id))
		return
	case own && s.host != from, !s.mayStart() && s.turn == nil:
		begun(errTurnOver)
		return
	case s.turn != nil:
		s.turn.next = append(s.turn.next, func() { beginWork(ctx, s, w, from, begun) })
		return
	}
	if _, err := s.openAgent(); err != nil {
		begun(err)
		return
	}
	by := protocol.AgentActor(s.id, s.state.Name)
	if !own {
		by = protocol.AgentActor(s.spec.Parent, "")
	}
	text := protocol.SplitText(protocol.ValidText(w.Text), record.LongText)[0]
	m := protocol.Message{MessageID: NewID(idMessage), Text: text, By: &by, Work: true}
	t := newTurn(s.background, NewID(idTurn))
	t.work = &w
	in := agent.Turn{ID: t.id}
	if own {
		t.steering = newSteering(s.mail, t)
		in.Steering = t.steering
	} else { // a sub-agent takes no messages
		t.asks = from
	}
	s.recorder.RecordIn(t.id, protocol.MessageUser, m.By, protocol.MessageUserData{Message: m})
	s.recorder.Record(
		protocol.TurnStarted, m.By, protocol.TurnStartedData{MessageID: m.MessageID, Agent: s.state.Agent},
	)
	s.turn = t
	t.steering.offer(s.state)
	s.forgetIdleEnd()
	ran := false
	t.runIn(s, func() func(agent.Output) (agent.End, error) {
		ran = true
		return func(out agent.Output) (agent.End, error) {
			begun(nil)
			return w.Run(t.ctx, in, out)
		}
	})
	s.journal.AfterCommit(func(error) {
		if !ran {
			begun(errTurnOver)
		}
	})
}
