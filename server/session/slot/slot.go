package slot

import (
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// A Slot holds the agent of a session. The zero value is empty. It is owned by one goroutine.
type Slot struct {
	agent        agent.Agent // nil: not open
	capabilities agent.Capabilities
	preparation  *Preparation
	start        start
	former       chan struct{} // closed when the agent taken last has exited; nil: none was taken
}

// Put puts an agent that was opened into the empty slot, with settings to be applied before its first
// turn.
func (s *Slot) Put(a agent.Agent, settings map[string]string) {
	s.agent, s.capabilities = a, a.Capabilities()
	s.preparation = newPreparation(s.former, settings)
}

// Take empties the slot. It returns the agent, which the caller must close, and gone, which the
// caller must call afterwards; nil, nil if the slot is empty. gone waits for the agents taken
// before; it may be called from any goroutine.
func (s *Slot) Take() (a agent.Agent, gone func()) {
	if s.agent == nil {
		return nil, nil
	}
	a = s.agent
	before, closed := s.former, make(chan struct{})
	s.agent, s.former, s.start.step = nil, closed, ""
	return a, func() {
		if before != nil {
			<-before
		}
		close(closed)
	}
}

// Agent returns the agent; nil if none is open.
func (s *Slot) Agent() agent.Agent { return s.agent }

// Capabilities returns the capabilities of the agent that was put last.
func (s *Slot) Capabilities() *agent.Capabilities { return &s.capabilities }

// Preparation returns the preparation of the agent that was put last.
func (s *Slot) Preparation() *Preparation { return s.preparation }

// Former returns a channel that is closed when the agents that were taken have exited; nil if none
// was taken.
func (s *Slot) Former() <-chan struct{} { return s.former }

// Startable reports whether a start now would do something: open the agent, start a process, or
// apply settings.
func (s *Slot) Startable(settings map[string]string) bool {
	if s.start.background || s.Process().Running {
		return false
	}
	_, starter := s.agent.(agent.Starter)
	return s.agent == nil || starter || len(settings) > 0
}

// Process returns the state of the agent's process.
func (s *Slot) Process() agent.Process {
	if starter, ok := s.agent.(agent.Starter); ok {
		return starter.Process()
	}
	return agent.Process{}
}

// Idle reports whether no agent of the slot has a process, or starts one.
func (s *Slot) Idle() bool {
	if s.former != nil {
		select {
		case <-s.former:
		default:
			return false
		}
	}
	return !s.start.background && !s.Process().Running
}

// Info returns the state of the agent's process for clients; nil: the agent has none. idleEnd is when
// the process was ended for idleness; nil: it was not.
func (s *Slot) Info(idleEnd *time.Time) *protocol.AgentProcess {
	_, starter := s.agent.(agent.Starter)
	p := s.Process()
	switch {
	case s.agent != nil && !starter:
		return nil
	case p.Running:
		return &protocol.AgentProcess{Phase: protocol.ProcessRunning, Since: &p.Since, Restores: p.Restores}
	}
	if starting := s.start.info(); starting != nil {
		return starting
	}
	return &protocol.AgentProcess{Phase: protocol.ProcessEnded, Since: idleEnd, Idle: idleEnd != nil}
}

// A start is the start of an agent's process.
type start struct {
	background bool      // it has no turn
	step       string    // empty: not known
	began, at  time.Time // of the start and of the step
	creator    func(key string, line []byte)
}

// SetStarting notes that the agent starts in the background, or that its start has ended.
func (s *Slot) SetStarting(starting bool, at time.Time) {
	s.start.background = starting
	if starting {
		s.start.began = at
		return
	}
	s.start.step, s.start.creator = "", nil
}

// SetStep notes that a step of the start begins; empty: the start has ended.
func (s *Slot) SetStep(step string, at time.Time) {
	if s.start.step == "" && !s.start.background {
		s.start.began = at
	}
	s.start.step, s.start.at = step, at
}

// Starting reports whether the agent starts in the background.
func (s *Slot) Starting() bool { return s.start.background }

// SetCreator notes whom to send ephemeral events until the start in the background ends; nil: no one.
func (s *Slot) SetCreator(notify func(key string, line []byte)) { s.start.creator = notify }

// Creator returns what SetCreator got.
func (s *Slot) Creator() func(key string, line []byte) { return s.start.creator }

// info returns the start for clients; nil: the agent does not start.
func (s *start) info() *protocol.AgentProcess {
	if !s.background && s.step == "" {
		return nil
	}
	began := s.began
	p := &protocol.AgentProcess{Phase: protocol.ProcessStarting, Since: &began, Step: s.step}
	if s.step != "" {
		at := s.at
		p.StepAt = &at
	}
	return p
}
