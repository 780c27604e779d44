package tuitest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A Witness records what the cards of approvals on screens have shown.
type Witness struct{ lines []string }

// Look records the agent's text on a screen: the text after the gutter of a card or a review. Lines
// that the screen before showed at its end are recorded once.
func (w *Witness) Look(screen string) {
	var lines []string
	for line := range strings.Lines(screen) {
		if text, ok := agentText([]rune(strings.TrimRight(line, "\n"))); ok {
			lines = append(lines, strings.TrimRight(text, " "))
		}
	}
	same := min(len(w.lines), len(lines))
	for same > 0 && !slices.Equal(w.lines[len(w.lines)-same:], lines[:same]) {
		same--
	}
	w.lines = append(w.lines, lines[same:]...)
}

// Columns of the gutters of a review, beside its list of files and without it.
const (
	besideFiles = 39
	reviewLabel = 9 // with the margin
)

// agentText returns the text after the gutter of a line.
func agentText(line []rune) (string, bool) {
	after := func(gutter int) (string, bool) {
		if len(line) < gutter+2 || line[gutter] != '▏' && line[gutter] != '↪' {
			return "", false
		}
		return string(line[gutter+2:]), true
	}
	start := 0
	switch {
	case len(line) > besideFiles && line[besideFiles-2] == '│':
		start = besideFiles
	case len(line) > 0 && line[0] == '│':
		text, ok := afterLabel(2, after)
		return strings.TrimSuffix(text, "│"), ok
	}
	return afterLabel(start, after)
}

// afterLabel returns the text after the first gutter of a line from a column on. In a narrow card the
// labels have different widths.
func afterLabel(start int, after func(gutter int) (string, bool)) (string, bool) {
	for gutter := start; gutter <= start+reviewLabel; gutter++ {
		if text, ok := after(gutter); ok {
			return text, true
		}
	}
	return "", false
}

// Text returns the recorded text, without the breaks of its lines.
func (w *Witness) Text() string { return strings.Join(w.lines, "") }

// See records text that was shown in another way.
func (w *Witness) See(text string) { w.lines = append(w.lines, text) }

// Missing returns the words and the hidden characters of a text that no screen has shown.
func (w *Witness) Missing(text string) []string {
	shown := w.Text()
	var out []string
	want := func(part string) {
		if part != "" && !strings.Contains(shown, part) {
			out = append(out, part)
		}
	}
	isWord := func(r rune) bool { return r < 0x7f && unicode.IsGraphic(r) && r != ' ' }
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !isWord(r) }) {
		for len(word) > 8 { // a long word may be on two screens
			want(word[:8])
			word = word[8:]
		}
		want(word)
	}
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
		case r < ' ':
			want(string('\u2400' + r))
		case !unicode.IsGraphic(r) || unicode.In(r, unicode.Mn, unicode.Zs, unicode.Cyrillic) || r == '\u2800':
			want(fmt.Sprintf("‹U+%04X›", r))
		}
	}
	return out
}
