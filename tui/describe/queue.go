package describe

import (
	"fmt"
	"time"

	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// EditHold returns the hold for an edit of a message, or nil.
func EditHold(s *protocol.State, message string) *protocol.Hold {
	for i := range s.Holds {
		if h := &s.Holds[i]; h.Reason == protocol.HoldEdit && h.MessageID == message {
			return h
		}
	}
	return nil
}

// Hold describes a queue hold. at formats a time.
func Hold(h *protocol.Hold, at func(time.Time) string) string {
	s := "held"
	switch h.Reason {
	case protocol.HoldEdit:
		if h.By != nil {
			return "paused while " + transcript.CleanLine(h.By.Name) + " edits"
		}
		return "paused for an edit"
	case protocol.HoldInterrupt:
		s = "held after an interrupt"
	case protocol.HoldRestart:
		s = "held after a restart"
	case protocol.HoldDenyStop:
		s = "held after a denial"
	case protocol.HoldLimit:
		s = "held after a " + Limited(h.ResetsAt, at)
		if h.Until != nil {
			s = "held after a usage limit, continues " + at(*h.Until)
		}
	}
	if h.By != nil {
		s += " by " + transcript.CleanLine(h.By.Name)
	}
	return s
}

// Queued describes a message that waits in the queue. Its index is zero-based; nil is not known.
func Queued(r *protocol.SendResult) string {
	switch {
	case r.Status == protocol.SendSteering:
		return "into the turn, at the agent's next safe point"
	case r.Reason != "":
		return "queued first: " + transcript.CleanLine(r.Reason)
	case r.Index == nil:
		return "queued"
	}
	return "queued, " + Ordinal(*r.Index+1)
}

// Ordinal returns n as an ordinal number, like 1st, 2nd or 11th.
func Ordinal(n int) string {
	suffix := "th"
	if tens := n % 100; tens < 11 || tens > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n) + suffix
}

// Interrupted describes the result of an interrupt. done reports whether a turn was interrupted,
// queue is the requested queue mode, queued is the number of queued messages, and held reports
// whether the queue was held before.
func Interrupted(done bool, queue string, queued int, held bool) string {
	switch {
	case !done:
		return "the turn was over already"
	case queued == 0:
		return "interrupted"
	case queue == protocol.QueueClear:
		return "interrupted, queue cleared"
	case queue == protocol.QueueHold || held:
		return "interrupted, queue held"
	}
	return "interrupted, the next message starts"
}

// Steered describes the state of a message that joined a turn.
func Steered(m *protocol.SteeredItem) string {
	switch m.Outcome {
	case protocol.SteerTakenIn:
		return "into the turn" + ui.Prefixed(": ", m.Reason)
	case protocol.SteerRefused:
		return "not taken in, first in the queue" + ui.Prefixed(": ", m.Reason)
	case protocol.SteerUnknown:
		return "unknown whether the agent got it, not sent again" + ui.Prefixed(": ", m.Reason)
	}
	return "sent to the agent"
}
