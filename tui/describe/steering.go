package describe

import (
	"agentctl/protocol"
	"agentctl/tui/ui"
)

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
