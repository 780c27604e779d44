package read

import (
	"testing"

	"agentctl/internal/dev/verbtest"
	"agentctl/protocol"
)

func TestFlagsAndArgumentsBecomeOptions(t *testing.T) {
	position := protocol.Position{Epoch: "e1", Seq: 7}
	verbtest.CheckOptions(t, newEvents, "s", eventsOptions{Session: "s"})
	verbtest.CheckOptions(t, newEvents, "s --since e1:7 --follow --fold",
		eventsOptions{Session: "s", Since: &position, Follow: true, Fold: true})
	verbtest.CheckOptions(t, newAgentOptions, "s", agentOptionsOptions{Session: "s"})
	verbtest.CheckOptions(t, newExport, "s", exportOptions{Session: "s", Format: "md"})
	verbtest.CheckOptions(t, newHistory, "s -n 3", historyOptions{Session: "s", Limit: 3})
}
