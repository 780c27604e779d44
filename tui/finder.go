package tui

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/transcript"
)

// findStep is how many items are looked through before anything else gets its
// turn.
const findStep = 200

// finder looks for words in the transcript, a few items at a time. Older turns
// are paged in as it gets to them.
type finder struct {
	input *textinput.Model // while the words are written
	query string
	at    transcript.ID // looked at next
	by    int           // -1: towards older items
	busy  bool
	paged bool // it goes on when the older turns are there
	wave  int  // of the search under way; steps of others are stale
}

type findMsg struct{ wave int }

// write begins to ask for words.
func (f *finder) write() {
	in := textinput.New()
	in.Prompt = ""
	in.SetVirtualCursor(false)
	in.SetValue(f.query)
	in.CursorEnd()
	in.Focus()
	f.input = &in
}

// stop ends the search under way.
func (f *finder) stop() {
	f.wave++
	f.busy, f.paged = false, false
}

// Render is the line where the words are written, or what is looked for.
func (f *finder) Render(l *look, width int) []string {
	const label = " find: "
	switch {
	case f.input != nil:
		f.input.SetWidth(max(1, width-len(label)-1))
		return []string{fit(l.key.Render(label)+f.input.View(), width)}
	case f.busy:
		return []string{l.dim.Render(fit(label+f.query+" …", width))}
	}
	return nil
}

func (f *finder) cursor() int { return len(" find: ") + f.input.Cursor().X }

// findKey handles a key while the words are written.
func (m *model) findKey(key string, msg tea.KeyPressMsg) tea.Cmd {
	f := &m.finder
	switch key {
	case "esc":
		f.input, f.query = nil, ""
		m.story.list.Highlight(nil)
	case "enter":
		f.query = strings.TrimSpace(f.input.Value())
		f.input = nil
		m.story.list.Highlight(nil)
		if f.query == "" {
			return nil
		}
		m.story.list.Highlight(m.highlight)
		m.setFocus(onStory)
		f.at, f.by = m.story.list.Last(), -1
		return m.beginFind()
	default:
		*f.input, _ = f.input.Update(msg)
	}
	return nil
}

// findNext goes on from the selected item.
func (m *model) findNext(by int) tea.Cmd {
	if m.finder.query == "" {
		return nil
	}
	id, ok := m.story.list.Selected()
	if !ok {
		id = m.story.list.Last() + 1
	}
	m.finder.at, m.finder.by = id+transcript.ID(by), by
	return m.beginFind()
}

func (m *model) beginFind() tea.Cmd {
	m.finder.stop()
	m.finder.busy = true
	return m.find(m.finder.wave)
}

// find looks through the next items, and comes back for more.
func (m *model) find(wave int) tea.Cmd {
	f, list := &m.finder, m.story.list
	if !f.busy || wave != f.wave {
		return nil
	}
	m.dirty = true
	for range findStep {
		if f.at < list.First() && f.by < 0 && (m.story.before != 0 || m.story.loading) {
			f.paged = true
			return m.pageNow()
		}
		if f.at < list.First() || f.at > list.Last() {
			f.stop()
			m.word = "“" + f.query + "” is not there"
			return nil
		}
		if mentions(list.Source(f.at), f.query) {
			m.found(f.at)
			return nil
		}
		f.at += transcript.ID(f.by)
	}
	return func() tea.Msg { return findMsg{wave} }
}

// mentions tells whether an item has words in it.
func mentions(s transcript.Source, words string) bool {
	call, ok := s.(*toolCall)
	if !ok {
		return contains(wording(s), words)
	}
	for i := range call.item.Tool.Content {
		c := &call.item.Tool.Content[i]
		if contains(c.Path, words) || contains(c.New, words) || c.Old != nil && contains(*c.Old, words) || c.Type != "diff" && contains(contentText(c), words) {
			return true
		}
	}
	return contains(call.said(), words)
}

// found shows the item, unfolded where that is what shows the words.
func (m *model) found(id transcript.ID) {
	m.finder.stop()
	list := m.story.list
	match := func(line string) bool { return contains(ansi.Strip(line), m.finder.query) }
	line, ok := list.LineOf(id, match)
	if !ok && list.Folded(id) {
		list.Fold(id, false)
		line, _ = list.LineOf(id, match)
	}
	list.Show(id, line)
}

func (m *model) highlight(line string) string { return m.look.highlight(line, m.finder.query) }

// highlight shows where words are on a line, which loses its other dress.
func (l *look) highlight(line, words string) string {
	bare := ansi.Strip(line)
	i := index(bare, words)
	if i < 0 {
		return line
	}
	end := i + len(words)
	return bare[:i] + l.chosen.Render(bare[i:end]) + bare[end:]
}

func contains(s, words string) bool { return index(s, words) >= 0 }

// index finds words whatever their case, unless that changes their length.
func index(s, words string) int {
	lower, query := strings.ToLower(s), strings.ToLower(words)
	if len(lower) != len(s) || len(query) != len(words) {
		return strings.Index(s, words)
	}
	return strings.Index(lower, query)
}
