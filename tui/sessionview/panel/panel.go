package panel

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/ui"
)

// Panel is a part of the session view between the transcript and the composer.
type Panel interface {
	// Apply applies an event that the replica has applied.
	Apply(*protocol.Event)

	// View returns the lines of the panel, or nil if it has nothing to show. The view cuts those that
	// are more than rows.
	View(width, rows int) []string
}

// Result is the effect of a key press on the view.
type Result struct {
	Cmd   tea.Cmd
	Leave bool              // give up the focus
	Push  ui.Overlay        // to show, or nil
	Edit  *protocol.Message // queued message to edit in the composer, or nil
}

// Func is a panel that needs no events.
type Func func(width, rows int) []string

// Apply implements [Panel].
func (f Func) Apply(*protocol.Event) {}

// View implements [Panel].
func (f Func) View(width, rows int) []string { return f(width, rows) }
