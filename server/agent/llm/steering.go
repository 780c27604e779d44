package llm

import (
	"context"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
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
	message, leftOut := userMessage(m)
	d := protocol.MessageResolvedData{MessageID: m.MessageID, Outcome: protocol.SteerTakenIn}
	if err := t.complete(ctx, m, &message); err != nil {
		d.Outcome, d.Reason = protocol.SteerRefused, err.Error()
		return false, t.turn.Steering.Resolve(d, nil)
	}
	err := t.agent.change(func(s *state) {
		s.add(message)
		s.Turn.Last, s.Turn.Joined = nil, true
	}, func(state []byte) error { return t.turn.Steering.Resolve(d, state) })
	if err != nil || leftOut == nil {
		return true, err
	}
	return true, t.notice(protocol.LevelWarning, "left out: "+strings.Join(leftOut, ", "))
}

// complete expands the command of a user's message, and adds the resources that it mentions.
func (t *turnRun) complete(ctx context.Context, from *protocol.Message, m *model.Message) error {
	if err := t.expand(ctx, from.Text, m); err != nil {
		return err
	}
	return t.addResources(ctx, from, m)
}
