package panel

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/replica"
	"agentctl/tui/ui"
)

// Part is a part of the session view with its own state. The view calls it only from the event loop.
// One that follows events is a [Follower] too.
type Part interface {
	// Updated follows the updates of a frame. The returned command may be nil.
	Updated() tea.Cmd

	// Update handles a message of the part. It reports whether the part looks different.
	Update(tea.Msg) (cmd tea.Cmd, changed bool)

	ui.Timed
}

// Follower is a part that follows events. A catch-up has many, so the view asks no other part.
type Follower interface {
	// Apply applies an event that the replica has applied.
	Apply(*protocol.Event)
}

// Panel is a part between the transcript and the composer.
type Panel interface {
	Part

	// View returns the lines of the panel, or nil if it has nothing to show. The view cuts those that
	// are more than rows.
	View(width, rows int) []string
}

// Base is what the parts of a session share. It implements [Part] for parts that embed it and need only
// some of its methods.
type Base struct {
	Styles   *ui.Styles
	Replica  *replica.Session
	Commands *request.Sender
	Now      func() time.Time
}

// Updated implements [Part].
func (Base) Updated() tea.Cmd { return nil }

// Update implements [Part].
func (Base) Update(tea.Msg) (cmd tea.Cmd, changed bool) { return nil, false }

// Deadline implements [ui.Timed].
func (Base) Deadline() time.Time { return time.Time{} }

// Due implements [ui.Timed].
func (Base) Due() (cmd tea.Cmd, changed bool) { return nil, false }
