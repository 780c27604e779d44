package input

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/composer"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
)

// recall puts earlier messages of the user into the composer.
type recall struct {
	panel.Base
	transcript Transcript
	composer   *composer.Composer
	arrows     arrowKeys
}

// Apply implements [panel.Follower]. It adds a message of the user to the earlier messages.
func (r *recall) Apply(e *protocol.Event) {
	if (e.Type == protocol.MessageUser || e.Type == protocol.MessageSteered) && e.Durable() {
		r.composer.Messages().AddPast(e)
	}
}

// press handles an arrow. At the edge of the text it makes a step, if steps is set. Arrows of a mouse
// wheel scroll instead, unless they move the cursor within the text.
func (r *recall) press(action keymap.Action, steps bool) (cmd tea.Cmd, handled bool) {
	by, down := 1, action == keymap.LaterMessage
	if down {
		by = -1
	}
	atEdge := r.composer.AtEdge(down)
	oneRow := atEdge && r.composer.AtEdge(!down)
	switch {
	case (steps || oneRow) && r.scroll(by):
		return nil, true
	case steps && atEdge:
		return r.step(by), true
	}
	return nil, false
}

// scroll scrolls by a line if an arrow comes from a mouse wheel, and reports whether it does. It
// undoes the first arrow of a burst and scrolls by one line more.
func (r *recall) scroll(by int) bool {
	undo, wheel := r.arrows.next(r.composer.Cursor())
	if !wheel {
		return false
	}
	r.Commands.Status.Clear()
	if undo != nil {
		if undo.recalled != 0 {
			r.composer.Recall(-undo.recalled, r.Replica.Conn.By)
		}
		r.composer.MoveCursor(undo.cursor)
		r.transcript.Scroll(-by)
	}
	r.transcript.Scroll(-by)
	return true
}

// step recalls the previous message of the user, or the next one if by is -1. At the first one it
// requests older turns.
func (r *recall) step(by int) tea.Cmd {
	switch {
	case r.composer.Recall(by, r.Replica.Conn.By):
		r.arrows.recalled(by)
	case by < 0:
	case r.composer.Editing != "":
		r.Commands.Status.Text = editingText
	default:
		return r.older()
	}
	return nil
}

// last recalls the last message that was sent.
func (r *recall) last() tea.Cmd {
	if !r.composer.RecallSent(r.Replica.Conn.By) {
		return r.older()
	}
	r.Commands.Status.Text = "your last message: enter sends it as a new one"
	return nil
}

// older requests older turns, whose messages extend the history.
func (r *recall) older() tea.Cmd {
	cmd, older := r.transcript.RequestOlder()
	r.Commands.Status.Text = "no earlier message"
	if older {
		r.Commands.Status.Text = "looking further back: press it again"
	}
	return cmd
}

// search opens the search of earlier messages.
func (r *recall) search() panel.Result {
	if r.composer.Editing != "" {
		r.Commands.Status.Text = editingText
		return panel.Result{}
	}
	prompts := func() []string { return r.composer.History(r.Replica.Conn.By) }
	return panel.Result{Leave: true, Push: newPromptSearch(r.Styles, prompts)}
}

// take replaces the draft, which stays in the history.
func (r *recall) take(text string) {
	r.composer.EndRecall()
	r.composer.KeepInHistory()
	r.composer.SetText(text)
}
