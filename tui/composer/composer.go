package composer

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"agentctl/protocol"
	"agentctl/tui/edit"
	"agentctl/tui/transcript"
)

// maxRows is the maximum height of the composer in rows.
const maxRows = 8

// Composer is the input field for a new message, or for the new text of a queued message.
type Composer struct {
	area    longText
	history History
	other   History // of shell commands, or of messages if Shell is set
	Shell   bool    // the text is a shell command of the user; see SetShell
	Editing string  // id of the queued message being edited, or empty
	edited  string  // its text before the edit
	draft   string  // text of the new message during an edit
	keys    edit.Keys
	fold    *fold // of the last long paste; nil: none
	drawn   drawing
}

// drawing is the composer as it was last drawn. It is final once drawn twice alike: the text area
// scrolls only within the rows that it has drawn.
type drawing struct {
	width, rows int
	lines       []string
	cursor      *tea.Cursor
	final       bool
}

// New returns an empty composer with focus.
func New() Composer {
	c := Composer{area: newArea()}
	c.area.setPrompt(false)
	return c
}

// newArea returns an empty text area with focus.
func newArea() longText {
	area := textarea.New()
	area.Placeholder = ""
	area.ShowLineNumbers = false
	area.EndOfBufferCharacter = ' '
	area.CharLimit = 0
	area.MaxContentHeight = 10_000
	area.DynamicHeight, area.MinHeight, area.MaxHeight = true, 1, maxRows
	area.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "shift+enter", "ctrl+j"))
	area.KeyMap.DeleteCharacterForward = key.NewBinding(key.WithKeys("delete"))
	area.KeyMap.TransposeCharacterBackward = key.NewBinding(key.WithDisabled())
	area.KeyMap.Paste = key.NewBinding(key.WithDisabled()) // the terminal sends pastes
	area.SetVirtualCursor(false)
	plain := textarea.StyleState{Selection: lipgloss.NewStyle().Reverse(true)}
	area.SetStyles(textarea.Styles{Focused: plain, Blurred: plain})
	area.Focus()
	return longText{Model: area}
}

// Value returns the text without surrounding white space.
func (c *Composer) Value() string { return strings.TrimSpace(c.area.Value()) }

// Empty reports whether there is no text.
func (c *Composer) Empty() bool { return c.area.empty() }

// IsNewMessage reports whether the text is a new message: no shell command, and no queued message
// that is edited.
func (c *Composer) IsNewMessage() bool { return !c.Shell && c.Editing == "" }

// Paste inserts untrusted text at the cursor. A text of many lines is shown as their number.
func (c *Composer) Paste(s string) {
	s = expandTabs(transcript.Clean(s))
	at := c.area.cursor()
	c.area.InsertString(s)
	if f := newFold(s, at); f != nil {
		c.fold = f
	}
}

// Restore inserts untrusted text before the new message.
func (c *Composer) Restore(s string) {
	s = transcript.Clean(s)
	if c.Shell {
		c.EndShell()
	}
	if c.Editing != "" {
		c.draft = strings.TrimSpace(s + "\n\n" + c.draft)
		return
	}
	c.SetText(strings.TrimSpace(s + "\n\n" + c.area.Value()))
}

// Continue inserts a text that was written elsewhere after the one in the composer, with the cursor
// at its end.
func (c *Composer) Continue(s string) {
	if !c.IsNewMessage() {
		c.Restore(s)
		return
	}
	c.SetText(strings.TrimLeft(c.Value()+"\n\n"+transcript.Clean(s), "\n"))
}

// SetText replaces the text. The cursor is at its end.
func (c *Composer) SetText(s string) { c.area.SetValue(s) }

// Word returns the word before the cursor, up to white space or a quote that is open since @.
func (c *Composer) Word() string {
	before, _ := c.area.split()
	if i := strings.LastIndex(before, `@"`); i >= 0 && !strings.ContainsAny(before[i+2:], "\"\n") &&
		(i == 0 || strings.ContainsRune(" \n", rune(before[i-1]))) {
		return before[i:]
	}
	return before[strings.LastIndexAny(before, " \n")+1:]
}

// ReplaceWord replaces the word before the cursor.
func (c *Composer) ReplaceWord(with string) {
	before, after := c.area.split()
	before = strings.TrimSuffix(before, c.Word()) + with
	c.area.SetText(c.area.above+before+after+c.area.below, len(c.area.above)+len(before))
}

// SetFocus sets whether the composer has focus.
func (c *Composer) SetFocus(on bool) {
	c.area.changed = true
	if on {
		c.area.Focus()
	} else {
		c.area.Blur()
	}
}

// Recall replaces the text by the previous message of the history, or by the next one if by is -1.
// It returns false without one or a queued message is being edited.
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

// RecallSent replaces the text by the last message that was sent. Texts that were only kept in the
// history are skipped. It returns false if no such message is known.
func (c *Composer) RecallSent(me protocol.Actor) bool {
	sent, _, ok := c.history.lastSent(me)
	for ok && c.Recall(1, me) {
		if c.Text() == expandTabs(sent) {
			return true
		}
	}
	return false
}

// LastSent returns the last message that was sent, and its turn. Both are "" if they are not known.
func (c *Composer) LastSent(me protocol.Actor) (text, turn string) {
	text, turn, _ = c.history.lastSent(me)
	return text, turn
}

// EndRecall leaves the history and restores the draft.
func (c *Composer) EndRecall() {
	current := c.area.Value()
	c.SetText(c.Unsent())
	c.history.leave(current)
}

// Unsent returns the draft of the new message.
func (c *Composer) Unsent() string {
	if c.Editing != "" {
		return c.draft
	}
	return c.history.draft(c.area.Value())
}

// Clear empties the composer.
func (c *Composer) Clear() { c.area.Reset() }

// KeepInHistory adds the text to the history.
func (c *Composer) KeepInHistory() {
	if text := c.Value(); text != "" {
		c.history.sent = keepNewest(append(c.history.sent, sentMessage{text: text}))
	}
}

// Edit saves the draft and starts to edit the text of a queued message.
func (c *Composer) Edit(message, text string) {
	if c.Shell {
		c.EndShell()
	}
	if c.Editing == "" {
		c.draft = c.Unsent()
		c.history.leave(c.area.Value())
	}
	c.Editing = message
	c.SetText(text)
	c.edited = c.area.Value()
}

// EndEdit restores the draft and returns the id of the message that was edited.
func (c *Composer) EndEdit() string {
	message := c.Editing
	c.Editing = ""
	c.area.SetValue(c.draft)
	c.draft = ""
	return message
}

// LeaveEdit restores the draft after the edited message was removed. A changed text continues after the
// draft. LeaveEdit reports whether there is one.
func (c *Composer) LeaveEdit() (changed bool) {
	text := c.area.Value()
	c.EndEdit()
	if changed = text != c.edited; changed {
		c.Continue(text)
	}
	return changed
}

// View returns at most rows lines and the cursor within them. The cursor is nil without focus.
func (c *Composer) View(width, rows int) ([]string, *tea.Cursor) {
	d := &c.drawn
	if changed := c.area.changed || d.width != width || d.rows != rows; changed || !d.final {
		lines, cursor := c.draw(width, rows)
		same := !changed && slices.Equal(lines, d.lines) && (cursor == nil || *cursor == *d.cursor)
		c.area.changed, *d = false, drawing{width, rows, lines, cursor, same}
	}
	lines, cursor := slices.Clone(d.lines), d.cursor // the caller changes both
	if cursor != nil {
		cursor = new(*cursor)
	}
	return lines, cursor
}

// draw draws what View returns.
func (c *Composer) draw(width, rows int) ([]string, *tea.Cursor) {
	area := &c.area
	if c.fold != nil {
		if text, cursor := area.Text(); c.fold.follow(text, cursor) {
			folded := c.fold.area(text, cursor, c.Shell)
			area = &folded
			if !c.area.Focused() {
				area.Blur()
			}
		} else {
			c.fold = nil
		}
	}
	area.MaxHeight = min(max(rows, 1), maxRows)
	area.SetWidth(max(width, promptWidth+2))
	out := strings.Split(area.View(), "\n")
	if len(out) > rows {
		out = out[:rows]
	}
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	return out, area.Cursor()
}

// Text returns the whole text.
func (c *Composer) Text() string { return c.area.Value() }

// Cursor returns the position of the cursor in the text, in bytes.
func (c *Composer) Cursor() int { return c.area.cursor() }

// MoveCursor moves the cursor to a position that Cursor returned.
func (c *Composer) MoveCursor(at int) {
	if text := c.area.Value(); at != c.area.cursor() && at <= len(text) {
		c.area.SetText(text, at)
	}
}

// AtEdge reports whether the cursor is on the first row of the text, or on the last row if down is
// set.
func (c *Composer) AtEdge(down bool) bool { return c.area.atEdge(down) }

// Recalling reports whether the user steps through earlier messages.
func (c *Composer) Recalling() bool { return c.history.active() }

// History returns the earlier messages of the user, newest first, after those that were edited
// during the recall.
func (c *Composer) History(me protocol.Actor) []string {
	return append(c.history.edited(), c.history.list(me)...)
}

// Messages returns the history of messages, also while the text is a shell command.
func (c *Composer) Messages() *History {
	if c.Shell {
		return &c.other
	}
	return &c.history
}

// Press handles a key.
func (c *Composer) Press(msg tea.KeyPressMsg) { c.keys.Press(&c.area, msg) }
