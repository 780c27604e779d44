package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/transcript"
)

// firstRunes adapts a line to a terminal that counts the cells of each rune instead of each
// grapheme cluster. Such a terminal draws a family emoji in eight cells and an emoji with a
// variation selector in one. firstRunes replaces each cluster whose width differs by its first
// rune, padded to the cells of the cluster.
func firstRunes(line string) string {
	if !hasJoiners(line) {
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
		if !hasJoiners(cluster) || ansi.StringWidthWc(cluster) == cells {
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

// hasJoiners reports whether s contains a zero-width joiner, an emoji variation selector or a skin
// tone, which may join runes into one emoji.
func hasJoiners(s string) bool {
	return strings.Contains(s, "\u200d") || strings.Contains(s, "\ufe0f") || strings.Contains(s, "\U0001f3fb"[:3])
}
