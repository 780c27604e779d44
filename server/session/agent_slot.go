package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// An agentSlot holds a session's agent, and the description that opens it.
type agentSlot struct {
	spec         agent.Spec
	agent        agent.Agent // nil: not open
	host         *host       // of agent
	capabilities agent.Capabilities
	preparation  *preparation  // of agent
	starting     bool          // startAgent is under way
	former       chan struct{} // closed when the agent closed last is gone; nil: none was closed
	startFailure string        // last failure that was recorded
	secrets      agentLog      // of agent
}

// A preparation is the work on an agent before its first turn.
type preparation struct {
	former   <-chan struct{}   // the agent starts after the former one of the session is gone; nil: none
	busy     chan struct{}     // capacity 1; held while one goroutine prepares
	settings map[string]string // not applied yet; guarded by busy
}

// acquire waits until the former agent is gone and no other goroutine prepares this one.
func (p *preparation) acquire(ctx context.Context) error {
	select {
	case p.busy <- struct{}{}:
	default:
		select {
		case p.busy <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if p.former == nil {
		return nil
	}
	select {
	case <-p.former:
		return nil
	case <-ctx.Done():
		p.release()
		return ctx.Err()
	}
}

func (p *preparation) release() { <-p.busy }

// forget drops a setting that is not applied yet: a user has chosen another value.
func (p *preparation) forget(ctx context.Context, setting string) error {
	if err := p.acquire(ctx); err != nil {
		return err
	}
	defer p.release()
	delete(p.settings, setting)
	return nil
}

// openAgent returns the session's agent, opened on first use.
func (s *Session) openAgent() (agent.Agent, error) {
	if s.agent == nil {
		s.host = &host{s}
		s.secrets.set(&s.spec)
		agent, err := s.hub.cfg.Agents.Open(s.spec, s.host)
		if err != nil {
			return nil, fmt.Errorf("open agent: %w", err)
		}
		s.agent, s.capabilities = agent, agent.Capabilities()
		s.preparation = &preparation{
			former: s.former, busy: make(chan struct{}, 1), settings: maps.Clone(s.spec.Settings),
		}
	}
	return s.agent, nil
}

// closeAgent closes the agent, off the session's goroutine.
func (s *Session) closeAgent() {
	agent := s.agent
	if agent == nil {
		return
	}
	before, gone := s.former, make(chan struct{})
	s.agent, s.host, s.former = nil, nil, gone
	s.hub.agents.Go(func() {
		defer s.post(s.scheduleTimer) // the session may be unloaded now
		defer close(gone)
		if err := agent.Close(); err != nil {
			s.hub.log.Warn("close agent", "session", s.id, "agent", s.secrets.agent(),
				"err", s.secrets.hide(err.Error()))
		}
		if before != nil {
			<-before
		}
	})
}

// startAgent starts the agent in the background and applies the settings of the session's creation.
// It calls then on the session's goroutine, or stopped if the session ends meanwhile.
func (s *Session) startAgent(then func(error), stopped func()) {
	agent, err := s.openAgent()
	if err != nil {
		then(err)
		return
	}
	preparation := s.preparation
	s.starting = true
	s.forgetIdleEnd()
	s.hub.agents.Go(func() {
		err := s.prepare(s.background, agent, preparation, true)
		posted := s.post(func() {
			s.starting = false
			s.touch()
			s.noteStart(err)
			then(err)
			s.scheduleTimer()
		})
		if !posted {
			stopped()
		}
	})
}

// prepare waits until the former agent is gone and applies the settings that are left. With start,
// or before settings, it starts the process. It is called off the session's goroutine.
func (s *Session) prepare(ctx context.Context, a agent.Agent, p *preparation, start bool) error {
	if err := p.acquire(ctx); err != nil {
		return err
	}
	defer p.release()
	if starter, ok := a.(agent.Starter); ok && (start || len(p.settings) > 0) {
		if err := starter.Start(ctx); err != nil {
			return err
		}
	}
	if len(p.settings) == 0 {
		return nil
	}
	err := applySettings(ctx, a, p.settings)
	left := maps.Clone(p.settings)
	s.post(func() { // the agent has saved the others
		s.spec.Settings = left
		s.storeSpec()
	})
	return err
}

// applySettings configures the agent and removes from settings what it applied. A setting may
// change the choices of another, so refused ones are tried again after others were applied.
func applySettings(ctx context.Context, a agent.Agent, settings map[string]string) error {
	c, ok := a.(agent.Configurer)
	if !ok {
		return protocol.Errorf(protocol.CodeUnsupported, "the agent has no settings")
	}
	for len(settings) > 0 {
		var refused error
		left := len(settings)
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			err := c.Configure(ctx, name, settings[name])
			if err == nil {
				delete(settings, name)
			} else if refused == nil {
				refused = err
			}
		}
		if len(settings) == left {
			return refused
		}
	}
	return nil
}

// startEarly starts the agent before the first message. A failure is recorded as a notice, once
// each; the next message tries again.
func (s *Session) startEarly() {
	if s.starting || s.turn != nil || s.closing() || s.process().Running ||
		s.spec.Lazy && s.state.Turn == nil && s.state.Turns == 0 {
		return
	}
	if s.agent != nil {
		if _, ok := s.agent.(agent.Starter); !ok && len(s.spec.Settings) == 0 {
			return
		}
	}
	s.startAgent(func(err error) {
		if err == nil {
			s.startFailure = ""
			return
		}
		if s.closing() || errors.Is(err, context.Canceled) || protocol.CodeOf(err) == protocol.CodeShuttingDown {
			return // closed meanwhile
		}
		end := normalizeEnd(agent.End{}, err)
		if end.Message == s.startFailure {
			return
		}
		s.startFailure = end.Message
		s.record(protocol.Notice, nil, protocol.NoticeData{
			Level: protocol.LevelWarning, Code: end.Code,
			Message: "the agent did not start: " + end.Message + "; the next message tries again",
		})
	}, func() {})
}

// process returns the state of the agent's process.
func (s *Session) process() agent.Process {
	if starter, ok := s.agent.(agent.Starter); ok {
		return starter.Process()
	}
	return agent.Process{}
}

// processInfo returns the state of the agent's process for clients; nil: the agent has none.
func (s *Session) processInfo() *protocol.AgentProcess {
	_, starter := s.agent.(agent.Starter)
	p := s.process()
	switch {
	case s.state.Closed || s.agent != nil && !starter:
		return nil
	case p.Running:
		return &protocol.AgentProcess{Phase: protocol.ProcessRunning, Since: &p.Since, Restores: p.Restores}
	case s.starting:
		return &protocol.AgentProcess{Phase: protocol.ProcessStarting}
	}
	return &protocol.AgentProcess{Phase: protocol.ProcessEnded, Since: s.spec.IdleEnd, Idle: s.spec.IdleEnd != nil}
}

// agentGone reports whether no agent of the session has a process.
func (s *Session) agentGone() bool {
	if s.former != nil {
		select {
		case <-s.former:
		default:
			return false
		}
	}
	return !s.starting && !s.process().Running
}

// endIdleAgent ends an agent that continues later where it was.
func (s *Session) endIdleAgent() {
	at := timestamp()
	s.spec.IdleEnd = &at
	s.storeSpec()
	s.logger().Info("end idle agent")
	s.closeAgent()
}

// forgetIdleEnd notes that the agent is in use again.
func (s *Session) forgetIdleEnd() {
	if s.spec.IdleEnd != nil {
		s.spec.IdleEnd = nil
		s.storeSpec()
	}
}

// idleCheck returns when an idle session is looked at next: to end its agent, or to unload it.
// Zero: not before something happens.
func (s *Session) idleCheck() time.Time {
	last := s.deadlines.lastActivity
	if p := s.process(); p.Running {
		next := time.Now().Add(s.hub.cfg.UnloadAfter) // the process may have ended by itself
		if end := last.Add(s.hub.settings().AgentIdle); p.Restores && end.Before(next) {
			return end
		}
		return next
	}
	if s.unloadable() {
		return last.Add(s.hub.cfg.UnloadAfter)
	}
	return time.Time{}
}

// handleIdle frees memory, ends the agent and unloads the session when they were idle for long
// enough.
func (s *Session) handleIdle(now time.Time) {
	if !s.idle() {
		return
	}
	if at := s.deadlines.lastCommit; !at.IsZero() && now.Sub(at) >= releaseAfter {
		s.log.release()
		s.output.free()
		s.line, s.deadlines.lastCommit = nil, time.Time{}
	}
	idle := now.Sub(s.deadlines.lastActivity)
	if p := s.process(); p.Running && p.Restores && idle >= s.hub.settings().AgentIdle {
		s.endIdleAgent()
		return
	}
	if s.unloadable() && idle >= s.hub.cfg.UnloadAfter {
		s.unload()
	}
}
