package tui

import (
	"slices"
	"strings"

	"agentctl/tui/keymap"

	"agentctl/tui/transcript"
)

// unbound are keys that always do the same: the help screen tells them first in
// their place.
var unbound = map[keymap.Scope][][2]string{
	keymap.Global: {{"ctrl+c twice", "leave; the session goes on"}},
	keymap.Composer: {
		{"alt+enter, ctrl+j", "new line"},
		{"/ first", "the agent's commands: tab completes"},
		{"1 … 9 when empty", "decide the approval on the screen"},
	},
	keymap.Approval: {{"1 … 9", "decide"}},
}

// help is the keys as an item of a pager, those of the place where it was asked
// for first.
type help struct {
	look *look
	at   keymap.Scope
}

func (h help) Estimate(int, bool) int { return len(keymap.Definitions) }

func (h help) Block(width int, _ bool) transcript.Block {
	var b transcript.Block
	var where keymap.Scope
	all := slices.Clone(keymap.Definitions)
	rank := func(b keymap.Definition) int {
		if b.Scope == h.at {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b keymap.Definition) int { return rank(a) - rank(b) })
	for _, bound := range all {
		if bound.Scope != where {
			where = bound.Scope
			b.Body = append(b.Body, "", " "+h.look.user.Render(string(where)))
			for _, k := range unbound[where] {
				b.Body = h.line(b.Body, k[0], k[1], width)
			}
		}
		if keys := h.look.keys.Keys(bound.Action); len(keys) > 0 {
			b.Body = h.line(b.Body, strings.Join(keys, ", "), bound.About, width)
		}
	}
	b.Body = b.Body[1:]
	return b
}

// line adds a key and what it does, beside it where that fits.
func (h help) line(to []string, keys, does string, width int) []string {
	const column = 30
	key := "  " + h.look.key.Render(keys)
	if width < 2*column {
		to = append(to, key)
		for _, line := range wrap(does, width-6) {
			to = append(to, "      "+line)
		}
		return to
	}
	first := key + strings.Repeat(" ", max(1, column-2-len([]rune(keys))))
	for _, line := range wrap(does, width-column) {
		to = append(to, first+line)
		first = strings.Repeat(" ", column)
	}
	return to
}
