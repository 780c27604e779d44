package effectiveagent

import (
	"strings"

	"agentctl/protocol"
)

// The document's types of activities.
const (
	kindInput  = "input"
	kindOutput = "output"
	kindError  = "error"
	kindStatus = "status"
)

// kindOf is the type of activity that an event is: what was said to the agent is input, its answer output, what went wrong an
// error, all else status.
func kindOf(e *protocol.Event) string {
	switch e.Type {
	case protocol.MessageUser:
		return kindInput
	case protocol.TextDelta, protocol.JoinedDeltas:
		return kindOutput
	case protocol.ErrorRaised:
		return kindError
	case protocol.TurnEnded:
		var d protocol.TurnEndedData
		if e.Decode(&d) == nil && d.Failed() {
			return kindError
		}
	}
	return kindStatus
}

// heard is the document's type of what a peer calls it: the real system has names of its own.
func heard(kind string) string {
	switch strings.ToLower(kind) {
	case kindInput, "command", "query":
		return kindInput
	case kindOutput, "event", "response":
		return kindOutput
	case kindError:
		return kindError
	case kindStatus, "state_change", "system":
		return kindStatus
	}
	return ""
}
