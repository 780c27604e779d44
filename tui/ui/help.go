package ui

import (
	"slices"
	"strings"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// fixedKeys are keys that cannot be rebound, with their texts. The help screen lists them first in
// their scope.
var fixedKeys = map[keymap.Scope][][2]string{
	keymap.Global: {{"ctrl+c twice", "leave; the session goes on"}},
	keymap.Composer: {
		{"alt+enter, ctrl+j", "new line"},
		{"/ first", "the agent's commands: tab completes"},
		{"alt+1 … alt+9", "go to the approval and choose an option"},
	},
	keymap.Approval: {{"1 … 9", "choose an option, or an answer; enter confirms"}},
}

// NewHelp returns a pager with all keys, those of the given scope first.
func NewHelp(s *Styles, scope keymap.Scope) *Pager { return NewPager(s, "keys", helpItem{s, scope}) }

// helpItem is the help screen as an item of a pager.
type helpItem struct {
	styles     *Styles
	firstScope keymap.Scope
}

func (h helpItem) Estimate(int, bool) int { return len(keymap.Definitions) }

func (h helpItem) Block(width int, _ bool) transcript.Block {
	var b transcript.Block
	var scope keymap.Scope
	definitions := slices.Clone(keymap.Definitions)
	rank := func(d keymap.Definition) int {
		if d.Scope == h.firstScope {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(definitions, func(a, b keymap.Definition) int { return rank(a) - rank(b) })
	for _, d := range definitions {
		if d.Scope != scope {
			scope = d.Scope
			b.Body = append(b.Body, "", " "+h.styles.User.Render(string(scope)))
			for _, k := range fixedKeys[scope] {
				b.Body = h.appendLines(b.Body, k[0], k[1], width)
			}
		}
		if keys := h.styles.Keys.Keys(d.Action); len(keys) > 0 {
			b.Body = h.appendLines(b.Body, strings.Join(keys, ", "), d.About, width)
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
