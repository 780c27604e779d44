package llm

import (
	"context"

	"agentctl/protocol"
	"agentctl/server/agent"
)

var _ agent.Steerer = (*Agent)(nil)

// Steers implements agent.Steerer.
func (a *Agent) Steers() bool { return true }

// takeSteered adds the messages that wait to join the turn to the conversation, each in one commit with
// its outcome. It reports whether it added one. It is called before a request, when every call has its
// result.
func (t *turnRun) takeSteered(ctx context.Context) (added bool, err error) {
	if t.turn.Steering == nil {
		return false, nil
	}
	select {
	case <-t.turn.Steering.Waiting():
	default:
		return false, nil
	}
	messages, err := t.turn.Steering.Take()
	if err != nil {
		return false, err
	}
	for i := range messages {
		took, err := t.addSteered(ctx, &messages[i])
		if err != nil {
			return false, err
		}
		added = added || took
	}
	return added, nil
}

// addSteered adds a message, or refuses one whose command fails.
func (t *turnRun) addSteered(ctx context.Context, m *protocol.Message) (bool, error) {
	message, left, err := t.userMessage(ctx, m, true)
	d := protocol.MessageResolvedData{MessageID: m.MessageID, Outcome: protocol.SteerTakenIn}
	if err != nil {
		d.Outcome, d.Reason = protocol.SteerRefused, err.Error()
		return false, t.turn.Steering.Resolve(d, nil)
	}
	err = t.agent.change(func(s *state) {
		s.add(message)
		s.Turn.Last, s.Turn.Joined = nil, true
	}, func(state []byte) error { return t.turn.Steering.Resolve(d, state) })
	if err != nil {
		return true, err
	}
	return true, t.reportLeft(left)
}
