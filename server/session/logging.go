package session

import (
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"

	"agentctl/internal/redact"
	"agentctl/server/agent"
)

// logger returns the log with the session and its agent. It is called on the session's goroutine.
func (s *Session) logger() *slog.Logger {
	return s.hub.log.With("session", s.id, "agent", s.spec.Agent)
}

// agentLog prepares messages of an agent for the log. It may be used from any goroutine.
type agentLog struct{ of atomic.Pointer[agentSecrets] }

// agentSecrets are the name of an agent and the values that its environment has in this session.
type agentSecrets struct {
	agent  string
	values *redact.Values
}

// set notes the agent that was opened.
func (a *agentLog) set(spec *agent.Spec) {
	env := slices.Collect(maps.Values(spec.Env))
	for i := range spec.MCPServers {
		env = slices.AppendSeq(env, maps.Values(spec.MCPServers[i].Env))
		env = slices.AppendSeq(env, maps.Values(spec.MCPServers[i].Headers))
	}
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
