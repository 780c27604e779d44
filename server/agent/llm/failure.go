package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
)

// openError returns the error of an agent whose model cannot be opened.
func openError(name string, err error) error {
	if e, ok := errors.AsType[*model.Error](err); ok && e.Class == model.Auth {
		return protocol.Errorf(protocol.CodeAgentAuth, "%s", e.Message)
	}
	return protocol.Errorf(protocol.CodeNoAgent, "%s: %v", name, err)
}

// requestError returns the error that ends a turn, with a hint for the user.
func requestError(name string, e *model.Error) error {
	code, advice := protocol.CodeAgentFailed, "send the message again later"
	switch e.Class {
	case model.Auth:
		code, advice = protocol.CodeAgentAuth, "check the key of the provider and what it may use"
	case model.Quota:
		advice = "add credit at the provider, or choose another model"
	case model.Context:
		advice = "the conversation no longer fits the context of the model: compact it, choose a model with more " +
			"context, or start a new session"
	case model.NoModel:
		advice = "check the name of the model and base_url"
	case model.Invalid:
		advice = "the provider refuses the request: check the model and its configuration"
	case model.Timeout:
		code = protocol.CodeTimeout
	case model.RateLimit:
		if e.After > 0 {
			advice = "the provider wants a pause of " + e.After.Round(time.Second).String()
		}
	}
	message := fmt.Sprintf("%s: %v; %s", name, e, advice)
	return cmp.Or(limitError(e, message), error(protocol.Errorf(code, "%s", message)))
}

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
	reached, ok := errors.AsType[*agent.LimitError](err)
	if !ok || ctx.Err() != nil {
		return agent.End{}, err
	}
	limit := *reached
	failed := t.agent.update(t.agent.host, func(s *state) {
		n := len(s.Turns)
		answered := func(m model.Message) bool { return m.Role == model.Assistant }
		if n == 0 || s.Turn == nil || s.Turn.Joined || s.Turns[n-1].Turn != t.turn.ID ||
			slices.ContainsFunc(s.Conversation[s.Turns[n-1].At:], answered) {
			limit.TookIn = true
			return
		}
		s.Conversation = s.before(s.Turns[n-1])
		s.Turns = s.Turns[:n-1]
	})
	return limit.End(), failed
}
