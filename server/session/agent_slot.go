package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"agentctl/internal/redact"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/record"
)

// openAgent returns the session's agent, opened on first use.
func (s *Session) openAgent() (agent.Agent, error) {
	if a := s.slot.Agent(); a != nil {
		return a, nil
	}
	s.secrets = secretsOf(&s.spec)
	s.host = &host{s, s.logger(), s.secrets}
	if s.spec.SubAgent != nil {
		s.slot.Put(s.spec.SubAgent, nil)
		return s.spec.SubAgent, nil
	}
	spec, err := s.confinement.Open(s.id, s.spec)
	if err != nil {
		return nil, fmt.Errorf("open the sandbox: %w", err)
	}
	a, err := s.hub.cfg.Agents.Open(spec, s.host)
	if err != nil {
		s.confinement.Take()()
		return nil, fmt.Errorf("open agent: %w", err)
	}
	s.slot.Put(a, s.spec.Settings)
	return a, nil
}

// secretsOf returns the values that the environment of a session's agent has.
func secretsOf(spec *agent.Spec) *redact.Values {
	env := slices.Collect(maps.Values(spec.Env))
	for i := range spec.MCPServers {
		env = slices.AppendSeq(env, maps.Values(spec.MCPServers[i].Env))
		env = slices.AppendSeq(env, maps.Values(spec.MCPServers[i].Headers))
	}
	return redact.NewValues(redact.Mark, redact.MinValue, env)
}

// closeAgent closes the agent, off the session's goroutine.
func (s *Session) closeAgent() {
	a, gone := s.slot.Take()
	if a == nil {
		return
	}
	h := s.host
	s.host = nil
	release := s.confinement.Take()
	s.hub.agents.Go(func() {
		defer s.mail.post(s.scheduleTimer) // the session may be unloaded now
		defer gone()
		defer release()
		if err := a.Close(); err != nil {
			h.log.Warn("close agent", "err", h.secrets.Hide(err.Error()))
		}
	})
}

// startAgent starts the agent in the background and applies the settings of the session's creation.
// It calls then on the session's goroutine, or stopped if the session ends before.
func (s *Session) startAgent(then func(error), stopped func()) {
	a, err := s.openAgent()
	if err != nil {
		then(err)
		return
	}
	preparation := s.slot.Preparation()
	s.slot.SetStarting(true, time.Now())
	s.publishProcess()
	s.forgetIdleEnd()
	s.hub.agents.Go(func() {
		err := preparation.Prepare(s.background, a, true, s.settingsApplied)
		posted := s.mail.post(func() {
			s.slot.SetStarting(false, time.Now())
			s.publishProcess()
			s.deadlines.touch()
			if err != nil && !s.exit.closing(s.state) && !errors.Is(err, context.Canceled) {
				end := normalizeEnd(agent.End{}, err)
				s.hub.Metrics().StartFailures.Of(string(end.Code)).Add(1)
				s.logger().Warn("agent did not start", "code", end.Code, "err", s.secrets.Hide(end.Message))
			}
			then(err)
			s.scheduleTimer()
		})
		if !posted {
			stopped()
		}
	})
}

// settingsApplied stores the settings that are left to be applied. It is called off the session's
// goroutine.
func (s *Session) settingsApplied(left map[string]string) {
	s.mail.post(func() {
		s.spec.Settings = left
		s.storeSpec()
	})
}

// startEarly starts the agent before the first message. A failure is recorded as a notice, once
// each; the next message tries again.
func (s *Session) startEarly() {
	if s.turn != nil || s.exit.closing(s.state) || !s.slot.Startable(s.spec.Settings) ||
		s.spec.Lazy && s.state.Turn == nil && s.state.Turns == 0 {
		return
	}
	s.startAgent(func(err error) {
		if err == nil {
			s.startFailure = ""
			return
		}
		if s.exit.closing(s.state) || errors.Is(err, context.Canceled) || protocol.CodeOf(err) == protocol.CodeShuttingDown {
			return // closed since the start
		}
		end := normalizeEnd(agent.End{}, err)
		if end.Message == s.startFailure {
			return
		}
		s.startFailure = end.Message
		s.recorder.Record(protocol.Notice, nil, protocol.NoticeData{
			Level: protocol.LevelWarning, Code: end.Code,
			Message: "the agent did not start: " + end.Message + "; the next message tries again",
		})
	}, func() {})
}

var _ agent.StartWatcher = (*host)(nil)

// Starting implements agent.StartWatcher.
func (h *host) Starting(step string) {
	at := time.Now()
	h.s.mail.post(func() {
		if h.s.host == h {
			h.s.slot.SetStep(step, at)
			h.s.publishProcess()
		}
	})
}

// publishProcess sends the state of the agent's process to the subscribers, and to the connection whose
// create waits for the agent.
func (s *Session) publishProcess() {
	p := s.slot.Info(s.spec.IdleEnd)
	if p == nil {
		return
	}
	s.subscribers.Broadcast(protocol.AgentProcessChanged, p)
	if notify := s.slot.Creator(); notify != nil {
		notify("agent "+s.id, record.Ephemeral(protocol.AgentProcessChanged, s.id, p))
	}
}
