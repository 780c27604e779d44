package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// composerRows is the most rows that the composer takes of the screen.
const composerRows = 8

// composer is where a person writes: a new message, or the new text of a queued
// one.
type composer struct {
	area    draft
	recall  recall
	editing string // the queued message that is edited
	draft   string // of the new message, meanwhile
}

func newComposer() composer {
	area := textarea.New()
	area.Prompt = "> "
	area.SetPromptFunc(2, func(p textarea.PromptInfo) string {
		if p.LineNumber == 0 {
			return "> "
		}
		return "  "
	})
	area.Placeholder = ""
	area.ShowLineNumbers = false
	area.EndOfBufferCharacter = ' '
	area.CharLimit = 0
	area.MaxContentHeight = 10_000
	area.DynamicHeight, area.MinHeight, area.MaxHeight = true, 1, composerRows
	area.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "shift+enter", "ctrl+j"))
	area.KeyMap.DeleteCharacterForward = key.NewBinding(key.WithKeys("delete"))
	area.KeyMap.Paste = key.NewBinding(key.WithDisabled()) // the terminal pastes
	area.SetVirtualCursor(false)
	plain := textarea.StyleState{Selection: lipgloss.NewStyle().Reverse(true)}
	area.SetStyles(textarea.Styles{Focused: plain, Blurred: plain})
	area.Focus()
	return composer{area: draft{Model: area}}
}

func (c *composer) value() string { return strings.TrimSpace(c.area.Value()) }

func (c *composer) empty() bool { return c.area.empty() }

// key edits the text.
func (c *composer) key(msg tea.KeyPressMsg) { c.area.press(msg) }

// paste inserts text that may come from anywhere.
func (c *composer) paste(s string) { c.area.InsertString(transcript.Clean(s)) }

// giveBack puts a text before the new message.
func (c *composer) giveBack(s string) {
	s = transcript.Clean(s)
	if c.editing != "" {
		c.draft = strings.TrimSpace(s + "\n\n" + c.draft)
		return
	}
	c.write(strings.TrimSpace(s + "\n\n" + c.area.Value()))
}

// write replaces what is written.
func (c *composer) write(s string) { c.area.SetValue(s) }

func (c *composer) focus(on bool) {
	if on {
		c.area.Focus()
	} else {
		c.area.Blur()
	}
}

// earlier writes the message before, or with -1 the one after; false when there
// is none.
func (c *composer) earlier(by int, me protocol.Actor) bool {
	if c.editing != "" {
		return false
	}
	text, ok := c.recall.step(by, c.area.Value(), me)
	if ok {
		c.write(text)
	}
	return ok
}

// stay ends a walk through what was written, where it began.
func (c *composer) stay() {
	c.write(c.unsent())
	c.recall.end()
}

// unsent is the new message as far as it was written.
func (c *composer) unsent() string {
	if c.editing != "" {
		return c.draft
	}
	return c.recall.draft(c.area.Value())
}

// take empties the composer and returns what was in it.
func (c *composer) take() string {
	s := c.value()
	c.area.Reset()
	return s
}

// edit keeps the draft and takes the text of a queued message instead.
func (c *composer) edit(message, text string) {
	if c.editing == "" {
		c.draft = c.unsent()
		c.recall.end()
	}
	c.editing = message
	c.write(text)
}

// endEdit brings the draft back and returns the message that was edited.
func (c *composer) endEdit() string {
	message := c.editing
	c.editing = ""
	c.area.SetValue(c.draft)
	c.draft = ""
	return message
}

// Render is at most rows lines, and the cursor within them; nil without focus.
func (c *composer) Render(width, rows int) ([]string, *tea.Cursor) {
	c.area.MaxHeight = min(max(rows, 1), composerRows)
	c.area.SetWidth(max(width, 4))
	out := strings.Split(c.area.View(), "\n")
	if len(out) > rows {
		out = out[:rows]
	}
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	return out, c.area.Cursor()
}
