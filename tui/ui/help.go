package ui

import (
	"strings"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// NewHelp returns a pager with all keys, the keys of the given scope first.
func NewHelp(s *Styles, scope keymap.Scope) *Pager { return NewPager(s, "keys", helpItem{s, scope}) }

// helpItem is the help screen as an item of a pager.
type helpItem struct {
	styles     *Styles
	firstScope keymap.Scope
}

func (h helpItem) Estimate(int, bool) int { return len(keymap.Definitions()) }

func (h helpItem) Block(width int, _ bool) transcript.Block {
	var b transcript.Block
	for _, section := range h.styles.Keys.Sections(h.firstScope) {
		b.Body = append(b.Body, "", " "+h.styles.User.Render(string(section.Scope)))
		for _, row := range section.Rows {
			b.Body = h.appendLines(b.Body, row.Keys, row.About, width)
		}
	}
	b.Body = b.Body[1:]
	return b
}

// appendLines appends keys and their text: in two columns if width allows, else on separate lines.
func (h helpItem) appendLines(lines []string, keys, about string, width int) []string {
	const column = 30
	key := "  " + h.styles.KeyName.Render(keys)
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
