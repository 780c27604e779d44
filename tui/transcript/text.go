package transcript

import (
	"strings"
	"unicode/utf8"
)

// Text is untrusted text that can grow. While it is open, it keeps its layout at the last width, so
// that drawing an appended part costs as much as that part. A closed text keeps only its source.
type Text struct {
	mode     breakMode
	cleaner  Cleaner
	terminal *terminal       // for terminal output; replaces cleaner
	src      strings.Builder // clean text; of a terminal, the final rows with style marks
	newlines int             // in src

	open    bool
	layout  *wrappedText
	laidOut int // bytes of src in layout
}

// NewText returns an open, empty text whose lines break at words.
func NewText() *Text { return &Text{open: true} }

// NewPreformatted returns an open, empty text whose lines break anywhere.
func NewPreformatted() *Text { return &Text{open: true, mode: breakAnywhere} }

// NewTerminalOutput returns an open, empty text for the output of a program. It interprets SGR
// colours, carriage returns and cursor movements, like a terminal.
func NewTerminalOutput() *Text {
	return &Text{open: true, mode: breakAnywhere, terminal: newTerminal()}
}

// Append cleans and appends s. A rune must not be cut between two calls.
func (t *Text) Append(s string) {
	if t.terminal != nil {
		t.terminal.write(s)
		s = t.terminal.takeFinal()
	} else {
		s = t.cleaner.Clean(s)
	}
	t.newlines += strings.Count(s, "\n")
	t.src.WriteString(s)
}

// Close frees the layout. Append still works afterwards.
func (t *Text) Close() { t.open, t.layout, t.laidOut = false, nil, 0 }

// String returns the clean text.
func (t *Text) String() string {
	if t.mode == breakAtWords {
		return t.src.String()
	}
	return StripStyles(t.src.String() + t.live())
}

// live returns the live rows of the terminal, which follow src.
func (t *Text) live() string {
	if t.terminal == nil {
		return ""
	}
	return t.terminal.live()
}

// Estimate returns the approximate number of lines at a width. It costs O(1).
func (t *Text) Estimate(width int) int {
	if t.src.Len() == 0 && t.terminal == nil {
		return 0
	}
	return 1 + t.newlines + t.src.Len()/(2*max(width, 1))
}

// Lines returns the lines of the text at a width of at least one cell, and their approximate size
// in bytes. The slice is valid until the next call and must not be changed.
func (t *Text) Lines(width int) ([]string, int) {
	width = max(width, 1)
	w := t.layout
	if w == nil || w.width != width {
		w = &wrappedText{lineBreaker: lineBreaker{width, t.mode}}
		t.laidOut = 0
	}
	w.append(t.src.String()[t.laidOut:])
	if t.open {
		t.layout, t.laidOut = w, t.src.Len()
	}
	if t.terminal != nil {
		return w.viewWith(t.live())
	}
	return w.view()
}

// Tail returns the last n lines at a width, and the approximate number of lines before them. It
// lays out only the end of the text.
func (t *Text) Tail(width, n int) (lines []string, hidden int) {
	width = max(width, 1)
	src, live := t.src.String(), t.live()
	newlines := t.newlines + strings.Count(live, "\n")
	size := len(src) + len(live)
	if live = strings.TrimRight(live, "\n"); live == "" {
		src = strings.TrimRight(src, "\n")
	}
	newlines -= size - len(src) - len(live) // those trimmed
	room := 8 * n * width
	before := runeStart(src, max(0, len(src)-room))
	src = src[before:] + live
	from := len(src)
	least := max(0, len(src)-room)
	for seen := 0; from > least; from-- {
		if src[from-1] == '\n' {
			if seen++; seen == n {
				break
			}
		}
	}
	from = runeStart(src, from)
	w := &wrappedText{lineBreaker: lineBreaker{width, t.mode}}
	w.append(src[from:])
	lines, _ = w.view()
	hidden = newlines - strings.Count(src[from:], "\n")
	if before+from > 0 {
		hidden = max(hidden, 1)
	}
	if cut := len(lines) - n; cut > 0 {
		lines = lines[cut:]
		hidden += cut
	}
	return lines, hidden
}

// Head returns the first n lines at a width. It lays out only the start of the text.
func (t *Text) Head(width, n int) []string {
	width = max(width, 1)
	src := t.src.String()
	if room := 8 * n * width; len(src) > room {
		src = src[:runeStart(src, room)]
	} else {
		src += t.live()
	}
	w := &wrappedText{lineBreaker: lineBreaker{width, t.mode}}
	w.append(src)
	lines, _ := w.view()
	return lines[:min(n, len(lines))]
}

// runeStart returns the first index from at on that is neither within a rune nor within a style
// mark.
func runeStart(s string, at int) int {
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	if esc := strings.LastIndexByte(s[max(0, at-maxMarkBytes):at], 0x1b); esc >= 0 {
		esc += max(0, at-maxMarkBytes)
		if n, _ := parseMark(s[esc:]); esc+n > at {
			return esc + n
		}
	}
	return at
}
