package session

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"

	"agentctl/internal/redact"
	"agentctl/server/agent"
)

// noteStart counts and logs a failed start of the agent.
func (s *Session) noteStart(err error) {
	if err == nil || s.closing() || errors.Is(err, context.Canceled) {
		return
	}
	end := normalizeEnd(agent.End{}, err)
	s.hub.Metrics().StartFailures.Of(string(end.Code)).Add(1)
	s.log.Warn("agent did not start", "code", end.Code, "err", s.secrets.hide(end.Message))
}

// agentLog makes what an agent says fit for the log. It may be used from any goroutine.
type agentLog struct{ of atomic.Pointer[agentSecrets] }

// agentSecrets are the name of an agent and the values that its environment has in this session.
type agentSecrets struct {
	agent  string
	values *redact.Values
}

// set notes the agent that was opened.
func (a *agentLog) set(spec *agent.Spec) {
	env := slices.Collect(maps.Values(spec.Env))
	a.of.Store(&agentSecrets{spec.Agent, redact.NewValues(redact.Mark, redact.MinValue, env)})
}

// hide returns text without the values of the session's environment.
func (a *agentLog) hide(text string) string {
	if of := a.of.Load(); of != nil {
		return of.values.Hide(text)
	}
	return text
}

// agent returns the agent.
func (a *agentLog) agent() string {
	if of := a.of.Load(); of != nil {
		return of.agent
	}
	return ""
}
