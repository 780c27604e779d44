package llm

import (
	"context"
	"errors"
	"slices"
	"time"

	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
)

// limitError returns the error for a request that fails at a limit of the account; nil: it does not. A
// limit of requests was tried again before, or ends too late for that.
func limitError(e *model.Error, message string) error {
	if e.Class != model.Quota && e.Class != model.RateLimit {
		return nil
	}
	l := &agent.LimitError{Message: message}
	if e.After > 0 {
		l.ResetsAt = time.Now().Add(e.After)
	}
	return l
}

// endAtLimit returns the end of a turn that failed at a limit. Unless the model has answered, or messages
// have joined the turn, it is forgotten: its message comes again. Another error is returned as it is.
func (t *turnRun) endAtLimit(ctx context.Context, err error) (agent.End, error) {
	var l *agent.LimitError
	if !errors.As(err, &l) || ctx.Err() != nil {
		return agent.End{}, err
	}
	limit := *l
	failed := t.agent.update(t.agent.host, func(s *state) {
		n := len(s.Turns)
		if n == 0 || s.Turn == nil || s.Turn.Joined || s.Turns[n-1].Turn != t.turn.ID ||
			slices.ContainsFunc(s.Conversation[s.Turns[n-1].At:], func(m model.Message) bool { return m.Role == model.Assistant }) {
			limit.TookIn = true
			return
		}
		s.Conversation = s.before(s.Turns[n-1])
		s.Turns = s.Turns[:n-1]
	})
	return limit.End(), failed
}
