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
	return h.s.mail.await(ctx, func(begun func(error)) { beginWork(ctx, h.s, workOf{w: w, host: h}, begun) })
}

// A workOf is work to begin in a session.
type workOf struct {
	w    agent.Work
	host *host // of the agent that works, in its own session
	asks *host // of the root that decides the requests, for work of a sub-agent
}

// beginWork starts a turn of work, after the current turn, if one runs. It runs on the session's
// goroutine. It calls begun once, when the work runs or cannot run.
func beginWork(ctx context.Context, s *Session, of workOf, begun func(error)) {
	switch {
	case ctx.Err() != nil:
		begun(ctx.Err())
		return
	case s.state.Closed:
		begun(protocol.Errorf(protocol.CodeSessionClosed, "session %s is closed", s.id))
		return
	case of.asks == nil && s.host != of.host, !s.mayStart() && s.turn == nil:
		begun(errTurnOver)
		return
	case s.turn != nil:
		s.turn.next = append(s.turn.next, func() { beginWork(ctx, s, of, begun) })
		return
	}
	if _, err := s.openAgent(); err != nil {
		begun(err)
		return
	}
	by := protocol.AgentActor(s.id, s.state.Name)
	if of.asks != nil {
		by = protocol.AgentActor(s.spec.Parent, "")
	}
	text := protocol.SplitText(protocol.ValidText(of.w.Text), record.LongText)[0]
	m := protocol.Message{MessageID: NewID(idMessage), Text: text, By: &by, Work: true}
	t := newTurn(s.background, NewID(idTurn))
	t.work, t.asks = &of.w, of.asks
	in := agent.Turn{ID: t.id}
	if of.asks == nil { // a sub-agent takes no messages
		t.steering = newSteering(s.mail, t)
		in.Steering = t.steering
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
			return of.w.Run(t.ctx, in, out)
		}
	})
	s.journal.AfterCommit(func(error) {
		if !ran {
			begun(errTurnOver)
		}
	})
}
