package tui

import (
	"slices"

	"agentctl/tui/keymap"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// menu is a list to choose from, on a screen of its own. It shows what the
// session is now: what others change meanwhile changes on it.
type menu struct {
	look   *look
	of     listing
	chosen string // id of an entry
	place  int    // where that was, for when it is gone
	back   *menu  // where it was opened from
}

// listing is what a menu lists.
type listing interface {
	title(*protocol.State) string
	none() string // said when there is nothing to list
	hint() string
	entries(*protocol.State) []entry
	// act handles a key that is not the menu's own, on an entry.
	act(m *model, id, key string) tea.Cmd
}

// entry is one thing on a menu: its text shows whole, with more about it below.
type entry struct {
	id    string
	text  string
	about string
}

// key handles a key while the menu is on the screen.
func (u *menu) key(m *model, key string) tea.Cmd {
	all := u.of.entries(m.state)
	at := u.at(all)
	to := at
	switch u.look.keys.At(keymap.Lists, key) {
	case keymap.Back:
		m.menu = u.back
		return nil
	case keymap.Up:
		to--
	case keymap.Down:
		to++
	case keymap.First:
		to = 0
	case keymap.Last:
		to = len(all) - 1
	default:
		if at < 0 {
			return nil
		}
		return u.of.act(m, all[at].id, key)
	}
	if len(all) > 0 {
		u.place = min(max(to, 0), len(all)-1)
		u.chosen = all[u.place].id
	}
	return nil
}

// at is the place of the chosen entry, or of the one that took it; -1 when there
// is none.
func (u *menu) at(all []entry) int {
	if i := slices.IndexFunc(all, func(e entry) bool { return e.id == u.chosen }); i >= 0 {
		u.place = i
	}
	return min(u.place, len(all)-1)
}

// Render is height lines; the last one says what can be done, or the word.
func (u *menu) Render(s *protocol.State, word string, width, height int) []string {
	all := u.of.entries(s)
	chosen := u.at(all)
	var lines []string
	at := 0
	for i, e := range all {
		mark, dress := "   ", u.look.plain
		if i == chosen {
			at, mark, dress = len(lines), " ▸ ", u.look.chosen
		}
		for n, line := range wrap(e.text, width-indent) {
			if n > 0 {
				mark = "   "
			}
			lines = append(lines, dress.Render(mark+line))
		}
		if e.about != "" {
			for _, line := range wrap(e.about, width-indent) {
				lines = append(lines, "   "+u.look.dim.Render(line))
			}
		}
	}
	if len(all) == 0 {
		lines = append(lines, u.look.dim.Render(fit(" "+u.of.none(), width)))
	}
	lines, _ = window(lines, at, height-2)
	out := append([]string{u.look.rule(u.of.title(s), width)}, lines...)
	for len(out) < height-1 {
		out = append(out, "")
	}
	out = out[:min(len(out), max(0, height-1))]
	var can string
	if len(all) > 0 {
		can = u.of.hint()
	}
	back := u.look.keys.Hint(keymap.Back, "back")
	foot := u.look.chosen.Render(spread(" "+hints(can, width-ansi.StringWidth(back)-2), back, width))
	if word != "" {
		foot = u.look.warn.Render(fit(" "+oneLine(transcript.Clean(word)), width))
	}
	return append(out, foot)
}
