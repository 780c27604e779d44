package tui

import (
	"context"
	"fmt"
	"slices"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// trove is what was found in all sessions, on a screen of its own: it stays while
// one after the other is opened.
type trove struct {
	input *textinput.Model // while the words are written
	text  string           // the words as they were written
	query *protocol.Query  // nil: nothing was looked for
	busy  bool             // an answer is on its way

	hits    []protocol.Hit // the newest first, of all sessions those made last first
	cursor  string         // where the server goes on; empty: that is all
	skipped int            // sessions that could not be read
	err     string
	at      int // the hit that is chosen
	rows    int // on the screen
}

// troveAhead is how many hits more than the chosen one there are to be, if there
// are as many.
const troveAhead = 100

// write begins to ask for words.
func (t *trove) write() { t.input = newWords(t.text) }

// showTrove asks for words to look for in all sessions.
func (d *desk) showTrove() {
	d.trove = &trove{}
	d.trove.write()
}

// key handles a key while the trove is on the screen.
func (t *trove) key(d *desk, key string, msg tea.KeyPressMsg) tea.Cmd {
	if t.input != nil {
		return t.writes(d, key, msg)
	}
	keys := d.look.keys
	switch keys.At(keymap.Global, key) {
	case keymap.Help:
		d.showHelp()
		return nil
	case keymap.ShowSessions:
		d.trove = nil
		return nil
	case keymap.Find:
		t.write()
		return nil
	case keymap.Reconnect:
		return d.retry()
	case keymap.PageUp:
		return t.move(d, -t.rows)
	case keymap.PageDown:
		return t.move(d, t.rows)
	case keymap.Redraw:
		return tea.ClearScreen
	case keymap.Suspend:
		return tea.Suspend
	}
	switch keys.InList(keymap.SearchResults, key) {
	case keymap.Back:
		d.trove = nil
	case keymap.NewSearch:
		t.write()
	case keymap.Up:
		return t.move(d, -1)
	case keymap.Down:
		return t.move(d, 1)
	case keymap.First:
		return t.move(d, -len(t.hits))
	case keymap.Last:
		return t.move(d, len(t.hits))
	case keymap.Choose:
		if len(t.hits) > 0 {
			d.tour = tour{}
			return d.enterAt(&t.hits[t.at], t.text)
		}
	}
	return nil
}

// writes handles a key while the words are written.
func (t *trove) writes(d *desk, key string, msg tea.KeyPressMsg) tea.Cmd {
	switch key {
	case "esc":
		if t.input = nil; t.query == nil {
			d.trove = nil
		}
	case "enter":
		words := t.input.Value()
		query, err := protocol.ParseQuery(words)
		if err != nil {
			return nil // no words, or more than anybody means
		}
		d.trove = &trove{text: oneLine(transcript.Clean(words)), query: query}
		return d.trove.ask(d)
	default:
		*t.input, _ = t.input.Update(msg)
	}
	return nil
}

func (t *trove) paste(s string) {
	if t.input != nil {
		*t.input, _ = t.input.Update(tea.PasteMsg{Content: oneLine(transcript.Clean(s))})
	}
}

// move chooses a hit so many places further, and has more of them come in time.
func (t *trove) move(d *desk, by int) tea.Cmd {
	t.at = max(0, min(t.at+by, len(t.hits)-1))
	return t.more(d)
}

// more asks for more hits, if those there are do not reach far enough.
func (t *trove) more(d *desk) tea.Cmd {
	if t.busy || t.cursor == "" || len(t.hits) > t.at+troveAhead || len(t.hits) >= hitsMost {
		return nil
	}
	return t.ask(d)
}

// ask asks the server for hits, a page at a time.
func (t *trove) ask(d *desk) tea.Cmd {
	t.busy = true
	ask := protocol.SearchData{Query: t.query.String(), Limit: hitsAtOnce, Cursor: t.cursor}
	return d.do(func(ctx context.Context) func() tea.Cmd {
		page, err := d.fleet.Search(ctx, ask)
		return func() tea.Cmd { return t.told(d, page, err) }
	})
}

func (t *trove) told(d *desk, page protocol.SearchResult, err error) tea.Cmd {
	if t.busy = false; d.trove != t {
		return nil // it looks for something else by now
	}
	if err != nil {
		t.err, t.cursor = remote.ErrorText(err), ""
		return nil
	}
	t.hits = append(t.hits, page.Hits...)
	t.skipped += len(page.Skipped)
	t.cursor = page.Cursor
	return t.more(d)
}

// enterAt shows a session where a hit is in it.
func (d *desk) enterAt(h *protocol.Hit, words string) tea.Cmd {
	hit := *h
	enter := d.enter(hit.Session)
	o := d.shown
	o.model.seek = &seek{hit, words}
	return tea.Batch(enter, o.model.sought())
}

// seek is a hit that a session is to be shown at, once it is there.
type seek struct {
	hit   protocol.Hit
	words string
}

// sought goes to the hit that is waited for, as finding the words would.
func (m *model) sought() tea.Cmd {
	s := m.seek
	if s == nil || !m.caughtUp {
		return nil
	}
	m.seek, m.dirty = nil, true
	cmd := m.beginFind(s.words)
	m.finder.goal = &s.hit
	return cmd
}

// reached is the place among the hits of the one that is waited for: the newest of
// all when there is none, -1 while it may come yet.
func (f *finder) reached(fresh int) int {
	if f.goal == nil {
		if fresh > 0 || len(f.hits) == 0 {
			return -1 // it was gone to
		}
		return 0
	}
	is := func(h protocol.Hit) bool {
		return h.Turn == f.goal.Turn && h.Kind == f.goal.Kind && h.Item == f.goal.Item && h.Seq == f.goal.Seq
	}
	i := slices.IndexFunc(f.hits[fresh:], is)
	switch {
	case i >= 0:
		f.goal = nil
		return fresh + i
	case f.busy || len(f.hits) == 0:
		return -1
	}
	f.goal = nil
	return 0
}

// title says what is looked for and how much of it is there.
func (t *trove) title(l *look) string {
	title := l.bold.Render("found in all sessions")
	if t.query == nil {
		return title
	}
	title += " · " + l.user.Render("“"+t.text+"”")
	n := fmt.Sprint(len(t.hits))
	if t.cursor != "" {
		n += "+"
	}
	switch {
	case len(t.hits) > 0:
		title += fmt.Sprintf(" · %d of %s places", t.at+1, n)
	case t.busy || t.cursor != "":
		title += l.dim.Render(" …")
	case t.err == "":
		title += " · nowhere"
	}
	if t.skipped > 0 {
		title += l.warn.Render(" · " + count(t.skipped, "session") + " cannot be read")
	}
	return title
}
