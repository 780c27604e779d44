package ui

import (
	"strings"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// NewHelp returns a pager with the most important keys of a scope. Its help key shows all keys, the
// keys of the scope first.
func NewHelp(s *Styles, scope keymap.Scope) *Pager {
	item := &helpItem{styles: s, firstScope: scope}
	p := NewPager(s, "keys"+Prefixed(keymap.Separator, s.Keys.Hint(keymap.ListHelp, "all")), item)
	p.More = func() bool {
		more := !item.all
		item.all, p.title = true, "keys"
		return more
	}
	return p
}

// helpItem is the help screen as an item of a pager.
type helpItem struct {
	styles     *Styles
	firstScope keymap.Scope
	all        bool
}

func (h *helpItem) Estimate(int, bool) int { return len(keymap.Definitions()) }

func (h *helpItem) Block(width int, _ bool) transcript.Block {
	var b transcript.Block
	sections := h.styles.Keys.First(h.firstScope)
	if h.all {
		sections = h.styles.Keys.Sections(h.firstScope)
	}
	for _, section := range sections {
		b.Body = append(b.Body, "", " "+h.styles.User.Render(string(section.Scope)))
		for _, row := range section.Rows {
			b.Body = append(b.Body, h.lines(row.Keys, row.About, width)...)
		}
	}
	b.Body = b.Body[1:]
	return b
}

// lines returns keys and their text: in two columns if width allows, else on separate lines.
func (h *helpItem) lines(keys, about string, width int) (lines []string) {
	const column = 30
	key := "  " + h.styles.Bold.Render(keys)
	if width < 2*column {
		lines = append(lines, key)
		for _, line := range Wrap(about, width-6) {
			lines = append(lines, "      "+line)
		}
		return lines
	}
	first := key + strings.Repeat(" ", max(1, column-2-len([]rune(keys))))
	for _, line := range Wrap(about, width-column) {
		lines = append(lines, first+line)
		first = strings.Repeat(" ", column)
	}
	return lines
}
