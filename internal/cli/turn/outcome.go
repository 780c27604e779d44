package turn

import (
	"agentctl/internal/export"
	"agentctl/protocol"
)

// newOutcome returns the outcome of a turn from its transcript, which may be empty: the log was
// replaced.
func newOutcome(t *protocol.Transcript, end *protocol.TurnEndedData) protocol.TurnOutcome {
	turn := t.Current()
	o := protocol.NewTurnOutcome("", turn, end)
	if turn != nil {
		o.Files = export.ChangedFiles(turn.Items)
	}
	return o
}
