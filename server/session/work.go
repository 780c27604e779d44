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
	begun := make(chan error, 1)
	if !h.s.mail.post(func() { h.begin(ctx, w, func(err error) { begun <- err }) }) {
		return errTurnOver
	}
	select {
	case err := <-begun:
		return err
	case <-h.s.mail.done:
		return errTurnOver
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin starts a turn of the agent's work, after the current turn, if one runs. It runs on the
// session's goroutine. It calls begun once, when the work runs or cannot run.
func (h *host) begin(ctx context.Context, w agent.Work, begun func(error)) {
	s := h.s
	switch {
	case ctx.Err() != nil:
		begun(ctx.Err())
		return
	case s.host != h || !s.mayStart() && s.turn == nil:
		begun(errTurnOver)
		return
	case s.turn != nil:
		s.turn.next = append(s.turn.next, func() { h.begin(ctx, w, begun) })
		return
	}
	by := protocol.AgentActor(s.id, s.state.Name)
	text := protocol.SplitText(protocol.ValidText(w.Text), record.LongText)[0]
	m := protocol.Message{MessageID: NewID(idMessage), Text: text, By: &by, Work: true}
	t := newTurn(s.background, NewID(idTurn))
	t.work, t.steering = &w, newSteering(s.mail, t)
	s.recorder.RecordIn(t.id, protocol.MessageUser, m.By, protocol.MessageUserData{Message: m})
	s.recorder.Record(protocol.TurnStarted, m.By, protocol.TurnStartedData{MessageID: m.MessageID, Agent: s.state.Agent})
	s.turn = t
	t.steering.offer(s.state)
	s.forgetIdleEnd()
	ran := false
	t.runIn(s, func() func(agent.Output) (agent.End, error) {
		ran = true
		return func(out agent.Output) (agent.End, error) {
			begun(nil)
			return w.Run(t.ctx, agent.Turn{ID: t.id, Message: m, Steering: t.steering}, out)
		}
	})
	s.journal.AfterCommit(func(error) {
		if !ran {
			begun(errTurnOver)
		}
	})
}
