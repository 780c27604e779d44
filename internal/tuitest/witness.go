package tuitest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A Witness records what the cards of approvals on screens have shown.
type Witness struct{ lines []string }

// Look records the agent's text on a screen: the text after the gutter of a card. Lines that the
// screen before showed at its end are recorded once.
func (w *Witness) Look(screen string) {
	var lines []string
	for line := range strings.Lines(screen) {
		runes := []rune(strings.TrimRight(line, "\n"))
		const gutter = 10 // column in cells, after the frame and the label
		if len(runes) < gutter+2 || runes[0] != '│' || runes[gutter] != '▏' && runes[gutter] != '↪' {
			continue
		}
		text := strings.TrimSuffix(string(runes[gutter+2:]), "│")
		lines = append(lines, strings.TrimRight(text, " "))
	}
	same := min(len(w.lines), len(lines))
	for same > 0 && !slices.Equal(w.lines[len(w.lines)-same:], lines[:same]) {
		same--
	}
	w.lines = append(w.lines, lines[same:]...)
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
