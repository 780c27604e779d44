package read

import (
	"testing"

	"agentctl/internal/cli/call"
	"agentctl/internal/dev/verbtest"
	"agentctl/protocol"
)

func TestFlagsAndArgumentsBecomeOptions(t *testing.T) {
	position := protocol.Position{Epoch: "e1", Seq: 7}
	verbtest.CheckOptions(t, &eventsVerb, "s", eventsOptions{Session: "s"})
	verbtest.CheckOptions(t, &eventsVerb, "s --since e1:7 --follow --fold",
		eventsOptions{Session: "s", Since: &position, Follow: true, Fold: true})
	verbtest.CheckOptions(t, &optionsVerb, "s", call.Options{Session: "s", Data: []any{nil}})
	verbtest.CheckOptions(t, &exportVerb, "s", exportOptions{Session: "s", Format: "md"})
	verbtest.CheckOptions(t, &historyVerb, "s -n 3", historyOptions{Session: "s", Limit: 3})
}
