package slot

import (
	"time"

	"agentctl/protocol"
)

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
