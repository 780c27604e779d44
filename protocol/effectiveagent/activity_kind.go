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

// activityKind returns the activity type of an event: input for a message to the agent, output for
// its answer, error for failures, else status.
func activityKind(e *protocol.Event) string {
	switch e.Type {
	case protocol.MessageUser, protocol.MessageSteered:
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

// decodeKind returns the document's type for a peer's type, which the real system names
// differently. Empty: unknown.
func decodeKind(kind string) string {
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
