package session

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"

	"agentctl/internal/redact"
	"agentctl/protocol"
	"agentctl/server/agent"
)

// logger returns the log with the session and its agent. It is called on the session's goroutine.
func (s *Session) logger() *slog.Logger {
	return s.hub.log.With("session", s.id, "agent", s.spec.Agent)
}

// noteStart counts and logs a failed start of the agent.
func (s *Session) noteStart(err error) {
	if err == nil || s.closing() || errors.Is(err, context.Canceled) {
		return
	}
	end := normalizeEnd(agent.End{}, err)
	s.hub.Metrics().StartFailures.Of(string(end.Code)).Add(1)
	s.logger().Warn("agent did not start", "code", end.Code, "err", s.secrets.hide(end.Message))
}

// noteEvent logs an event of the session's life.
func (s *Session) noteEvent(typ protocol.Type, by *protocol.Actor) {
	switch typ {
	case protocol.SessionCreated, protocol.SessionClosed:
		s.logger().Info(string(typ), "actor", actorName(by))
	case protocol.TurnStarted, protocol.TurnEnded:
		s.logger().Debug(string(typ), "turn", s.turnID(), "actor", actorName(by))
	}
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

// actorName returns the name of an actor for the log.
func actorName(by *protocol.Actor) string {
	if by == nil {
		return ""
	}
	return cmp.Or(by.Subject, by.Name)
}
