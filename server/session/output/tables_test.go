package output

import (
	"slices"
	"testing"

	"agentctl/protocol"
)

// sessionEvents lists the durable event types that an agent must not emit.
var sessionEvents = []protocol.Type{
	protocol.SessionCreated, protocol.SessionUpdated, protocol.SessionClosed, protocol.MessageUser,
	protocol.TurnStarted,
	protocol.TurnEnded, protocol.JoinedDeltas, protocol.ApprovalRequested, protocol.ApprovalExplained,
	protocol.ApprovalResolved, protocol.QueueAdded,
	protocol.QueueScheduled, protocol.QueueUpdated, protocol.QueueRemoved, protocol.QueueMoved,
	protocol.QueueHeld, protocol.QueueReleased, protocol.StateExported, protocol.StateRestored,
	protocol.MessageSteered, protocol.MessageResolved,
}

// fittedWhole lists the types whose data needs no splitting, shortening of ids or cleaning of JSON:
// an event that is too large is shortened as a whole.
var fittedWhole = []protocol.Type{
	protocol.PlanStarted, protocol.PlanInvalid, protocol.PlanCancelled, protocol.PlanFailed, protocol.TaskStarted,
	protocol.TaskProgress, protocol.TaskCompleted, protocol.TaskFailed, protocol.TaskCancelled, protocol.TaskRestarted,
	protocol.AggregateStarted, protocol.AggregateCompleted, protocol.PipelineCompleted, protocol.ContextUpdated,
	protocol.ContextCompacted, protocol.UsageUpdated, protocol.LimitsUpdated, protocol.AgentOptions, protocol.ErrorRaised,
	protocol.RetryScheduled,
	protocol.RecoveryStarted, protocol.RecoverySucceeded, protocol.RecoveryFailed, protocol.Notice,
}

// fittedByField lists the types whose data fit changes field by field.
var fittedByField = []protocol.Type{
	protocol.TextStart, protocol.TextDelta, protocol.TextEnd, protocol.TextContent,
	protocol.ReasoningStart, protocol.ReasoningDelta,
	protocol.ReasoningEnd, protocol.ToolStarted, protocol.ToolInput, protocol.ToolOutput, protocol.ToolEnded,
	protocol.PlanUpdated, protocol.PlanCompleted, protocol.Raw,
}

func TestTheSanitizerCoversEveryEventType(t *testing.T) {
	for _, e := range protocol.EventTypes {
		if e.Ephemeral {
			continue
		}
		n := 0
		for _, list := range [][]protocol.Type{sessionEvents, fittedWhole, fittedByField} {
			if slices.Contains(list, e.Type) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: decide how agents' data of this type is made fit for the log (Sanitize), and add it to one list of this test", e.Type)
		}
		if own := slices.Contains(sessionEvents, e.Type); own == (eventData()[e.Type] != nil) && n == 1 {
			t.Errorf("%s: an agent may emit it: %v; the list in this test says otherwise", e.Type, !own)
		}
	}
}
