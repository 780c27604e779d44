package contextview

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/turns"
	"agentctl/tui/ui"
)

// Usage tracks the agent's context usage and its compactions.
type Usage struct {
	panel.Base
	turns      *turns.Turns
	compaction compaction
}

// compaction is the state of the last compaction that the user started.
type compaction struct {
	sending bool
	result  *protocol.ContextCompactedData
	err     string
}

// New returns the usage of a session, which reads the last compaction from its turns.
func New(b panel.Base, t *turns.Turns) *Usage { return &Usage{Base: b, turns: t} }

// compact requests a compaction of the context.
func (u *Usage) compact() tea.Cmd {
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
