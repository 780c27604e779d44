package ui

import (
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/keymap"
)

var hintGap = regexp.MustCompile(`( · |  +|^ )`)

// HintAt returns the action whose key the hint at a column of a line begins or ends with, such as "F2
// sessions" or "2 others waiting: F8". It returns "" for an action that is not among actions: a text of
// an agent can look like a hint.
func HintAt(keys *keymap.Map, line string, column int, actions ...keymap.Action) keymap.Action {
	line = ansi.Strip(line)
	at := 0
	for _, gap := range append(hintGap.FindAllStringIndex(line, -1), []int{len(line), len(line)}) {
		hint := line[min(at, gap[0]):gap[0]]
		from := ansi.StringWidth(line[:min(at, gap[0])])
		at = gap[1]
		if words := strings.Fields(hint); len(words) > 0 && column >= from && column < from+ansi.StringWidth(hint) {
			for _, a := range actions {
				named := keys.Keys(a)
				if slices.Contains(named, words[0]) || strings.Contains(hint, ": ") && slices.Contains(named, words[len(words)-1]) {
					return a
				}
			}
		}
	}
	return ""
}
