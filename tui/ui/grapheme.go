package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/transcript"
)

// firstRunes is a line for a terminal that counts the cells of each rune, and not
// of what runes make together: there a family of four takes eight cells and
// pushes what follows off the screen, and a sign that is dressed as an emoji
// takes one. Each such cluster is drawn as its first rune, in the cells that the
// line was laid out with.
func firstRunes(line string) string {
	if !joins(line) {
		return line
	}
	var out strings.Builder
	out.Grow(len(line))
	for i := 0; i < len(line); {
		if line[i] == 0x1b {
			link, _ := transcript.LinkSequence(line[i:])
			n := max(link, sgrLength(line[i:]), 1)
			out.WriteString(line[i : i+n])
			i += n
			continue
		}
		if line[i] < utf8.RuneSelf && (i+1 == len(line) || line[i+1] < utf8.RuneSelf) {
			out.WriteByte(line[i])
			i++
			continue
		}
		cluster, cells := ansi.FirstGraphemeCluster(line[i:], ansi.GraphemeWidth)
		i += len(cluster)
		if !joins(cluster) || ansi.StringWidthWc(cluster) == cells {
			out.WriteString(cluster)
			continue
		}
		_, n := utf8.DecodeRuneInString(cluster)
		first := cluster[:n]
		out.WriteString(first)
		out.WriteString(strings.Repeat(" ", max(0, cells-ansi.StringWidthWc(first))))
	}
	return out.String()
}

// joins tells that runes of a text may be one emoji together: a joiner, a
// selector of how it looks, or a skin tone is among them.
func joins(s string) bool {
	return strings.Contains(s, "\u200d") || strings.Contains(s, "\ufe0f") || strings.Contains(s, "\U0001f3fb"[:3])
}
