package script

import (
	"context"
	"errors"

	"agentctl/protocol"
	"agentctl/server/agent"
)

var _ agent.Steerer = (*scriptAgent)(nil)

// Steers implements agent.Steerer.
func (a *scriptAgent) Steers() bool { return a.script.steers }

// A steer waits for messages that join the turn, and takes them in or refuses them.
type steer struct {
	Count  int    `json:"steer"`
	Refuse string `json:"refuse"` // the reason; empty: they are taken in
}

func (s *steer) check() error {
	if s.Count < 1 {
		return errors.New("must be at least 1")
	}
	return nil
}

func (s *steer) run(ctx context.Context, r *runner) error {
	for range s.Count {
		if r.skip > 0 {
			r.skip--
			continue
		}
		m, err := r.nextSteered(ctx)
		if err != nil {
			return err
		}
		d := protocol.MessageResolvedData{MessageID: m.MessageID, Outcome: protocol.SteerTakenIn}
		if s.Refuse != "" {
			d.Outcome, d.Reason = protocol.SteerRefused, r.expand(s.Refuse)
		}
		r.done++
		err = r.agent.record(r, func(state []byte) error { return r.turn.Steering.Resolve(d, state) },
			func(a *agentState) {
				a.Tokens += estimateTokens(m.Text)
				a.Turn.Steered = m.Text
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// nextSteered returns the next message that joins the turn.
func (t *turnRun) nextSteered(ctx context.Context) (m protocol.Message, err error) {
	if t.turn.Steering == nil {
		return m, errors.New("steer: the turn takes no messages")
	}
	for len(t.steered) == 0 {
		select {
		case <-t.turn.Steering.Waiting():
		case <-ctx.Done():
			return m, ctx.Err()
		}
		if t.steered, err = t.turn.Steering.Take(); err != nil {
			return m, err
		}
	}
	m, t.steered = t.steered[0], t.steered[1:]
	return m, nil
}

// refuseSteered refuses the messages that no step has taken in.
func (t *turnRun) refuseSteered() {
	for _, m := range t.steered {
		_ = t.turn.Steering.Resolve(protocol.MessageResolvedData{ // fails when the turn is over
			MessageID: m.MessageID, Outcome: protocol.SteerRefused, Reason: "the turn has ended",
		}, nil)
	}
}
