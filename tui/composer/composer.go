package composer

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// maxRows is the most rows that the composer takes of the screen.
const maxRows = 8

// Composer is where a person writes: a new message, or the new text of a queued
// one.
type Composer struct {
	area    longText
	history inputHistory
	Editing string // the queued message that is edited
	draft   string // of the new message, meanwhile
}

func New() Composer {
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
	area.DynamicHeight, area.MinHeight, area.MaxHeight = true, 1, maxRows
	area.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "shift+enter", "ctrl+j"))
	area.KeyMap.DeleteCharacterForward = key.NewBinding(key.WithKeys("delete"))
	area.KeyMap.Paste = key.NewBinding(key.WithDisabled()) // the terminal pastes
	area.SetVirtualCursor(false)
	plain := textarea.StyleState{Selection: lipgloss.NewStyle().Reverse(true)}
	area.SetStyles(textarea.Styles{Focused: plain, Blurred: plain})
	area.Focus()
	return Composer{area: longText{Model: area}}
}

func (c *Composer) Value() string { return strings.TrimSpace(c.area.Value()) }

func (c *Composer) Empty() bool { return c.area.empty() }

// Press edits the text.
func (c *Composer) Press(msg tea.KeyPressMsg) { c.area.handleKey(msg) }

// Paste inserts text that may come from anywhere.
func (c *Composer) Paste(s string) { c.area.InsertString(transcript.Clean(s)) }

// Restore puts a text before the new message.
func (c *Composer) Restore(s string) {
	s = transcript.Clean(s)
	if c.Editing != "" {
		c.draft = strings.TrimSpace(s + "\n\n" + c.draft)
		return
	}
	c.SetText(strings.TrimSpace(s + "\n\n" + c.area.Value()))
}

// SetText replaces what is written.
func (c *Composer) SetText(s string) { c.area.SetValue(s) }

func (c *Composer) SetFocus(on bool) {
	if on {
		c.area.Focus()
	} else {
		c.area.Blur()
	}
}

// Recall writes the message before, or with -1 the one after; false when there
// is none.
func (c *Composer) Recall(by int, me protocol.Actor) bool {
	if c.Editing != "" {
		return false
	}
	text, ok := c.history.step(by, c.area.Value(), me)
	if ok {
		c.SetText(text)
	}
	return ok
}

// EndRecall ends a walk through what was written, where it began.
func (c *Composer) EndRecall() {
	c.SetText(c.Unsent())
	c.history.end()
}

// Unsent is the new message as far as it was written.
func (c *Composer) Unsent() string {
	if c.Editing != "" {
		return c.draft
	}
	return c.history.draft(c.area.Value())
}

// Clear empties the composer and returns what was in it.
func (c *Composer) Clear() string {
	s := c.Value()
	c.area.Reset()
	return s
}

// Edit keeps the draft and takes the text of a queued message instead.
func (c *Composer) Edit(message, text string) {
	if c.Editing == "" {
		c.draft = c.Unsent()
		c.history.end()
	}
	c.Editing = message
	c.SetText(text)
}

// EndEdit brings the draft back and returns the message that was edited.
func (c *Composer) EndEdit() string {
	message := c.Editing
	c.Editing = ""
	c.area.SetValue(c.draft)
	c.draft = ""
	return message
}

// View is at most rows lines, and the cursor within them; nil without focus.
func (c *Composer) View(width, rows int) ([]string, *tea.Cursor) {
	c.area.MaxHeight = min(max(rows, 1), maxRows)
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

// Text returns all that is typed.
func (c *Composer) Text() string { return c.area.Value() }

// AtEdge reports whether the cursor is on the first row, or with down on the last.
func (c *Composer) AtEdge(down bool) bool { return c.area.atEdge(down) }

// Recalling reports whether the user steps through earlier messages.
func (c *Composer) Recalling() bool { return c.history.active() }

// AddSent remembers a message that is sent from here.
func (c *Composer) AddSent(id, text string) { c.history.add(id, text) }

// AddPast remembers a message of the log.
func (c *Composer) AddPast(e *protocol.Event) { c.history.addPast(e) }

// AddOlder remembers the messages of a page of history.
func (c *Composer) AddOlder(page *protocol.HistoryResult, me protocol.Actor) {
	c.history.addOlder(page, me)
}

// ForgetPast forgets the messages of the log.
func (c *Composer) ForgetPast() { c.history.past = nil }
