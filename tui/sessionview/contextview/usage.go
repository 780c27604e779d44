package contextview

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// usage is the context usage of a session, and the compaction that the user started.
type usage struct {
	panel.Base
	compaction compaction
}

// compaction is the state of the last compaction that the user started.
type compaction struct {
	sending bool
	result  *protocol.ContextCompactedData
	err     string
}

// compact requests a compaction of the context.
func (u *usage) compact() tea.Cmd {
	u.compaction = compaction{sending: true}
	result := new(protocol.CompactResult)
	return u.Commands.Send(protocol.DoCompact, protocol.Empty{}, result, func(err error) tea.Cmd {
		u.compaction = compaction{result: &result.Compacted}
		switch {
		case err == nil:
			effect := describe.Compaction(&result.Compacted, format.Thousands)
			u.Commands.Status.Text = "context compacted" + ui.Prefixed(": ", effect)
		case protocol.CodeOf(err) == protocol.CodeUnsupported:
			u.compaction = compaction{
				err: "This agent cannot compact its context. A new session begins with an empty one.",
			}
		default:
			u.compaction = compaction{err: remote.ErrorText(err)}
		}
		return nil
	})
}
