package transcript

import (
	"strings"
	"unicode/utf8"
)

// Text is untrusted text that may still be growing. While it is open it keeps
// its layout at the last width, so that showing what was appended costs what
// was appended; closed, it keeps only its source.
type Text struct {
	pre     bool // preformatted: lines break anywhere
	cleaner Cleaner
	console *console        // of a program's output; it cleans instead, and what is final is in src
	src     strings.Builder // of a program's output, with marks
	breaks  int             // newlines in src

	open   bool
	layout *wrapping
	laid   int // bytes of src in the layout
}

// NewText is an open, empty text of prose: lines break at words.
func NewText() *Text { return &Text{open: true} }

// NewPreformatted is an open, empty text whose columns matter: lines break anywhere.
func NewPreformatted() *Text { return &Text{open: true, pre: true} }

// NewTerminalOutput is an open, empty text that a program writes: it shows as in a
// terminal, with its colours, after a carriage return or a cursor that goes up.
func NewTerminalOutput() *Text { return &Text{open: true, pre: true, console: newConsole()} }

// Append cleans s and adds it. No rune may be cut between two appends.
func (t *Text) Append(s string) {
	if t.console != nil {
		t.console.write(s)
		s = t.console.take()
	} else {
		s = t.cleaner.Clean(s)
	}
	t.breaks += strings.Count(s, "\n")
	t.src.WriteString(s)
}

// Close says that no more will come soon; a later Append is still shown.
func (t *Text) Close() { t.open, t.layout, t.laid = false, nil, 0 }

// String is the clean text.
func (t *Text) String() string {
	if !t.pre {
		return t.src.String()
	}
	return StripStyles(t.src.String() + t.live())
}

// live is the end of the text that is not in src.
func (t *Text) live() string {
	if t.console == nil {
		return ""
	}
	return t.console.live()
}

// Estimate is about how many lines the text takes, in constant time.
func (t *Text) Estimate(width int) int {
	if t.src.Len() == 0 && t.console == nil {
		return 0
	}
	return 1 + t.breaks + t.src.Len()/(2*max(width, 1))
}

// Lines is the text at a width of at least one cell and about how many bytes
// its lines hold. The slice is valid until the next call and must not be changed.
func (t *Text) Lines(width int) ([]string, int) {
	width = max(width, 1)
	w := t.layout
	if w == nil || w.width != width {
		w = &wrapping{ruler: ruler{width, t.breaking()}}
		t.laid = 0
	}
	w.append(t.src.String()[t.laid:])
	if t.open {
		t.layout, t.laid = w, t.src.Len()
	}
	if t.console != nil {
		return w.peek(t.live())
	}
	return w.view()
}

// Tail is the last n lines at a width, and about how many come before them. It
// lays out what it shows, however long the text is.
func (t *Text) Tail(width, n int) (lines []string, hidden int) {
	width = max(width, 1)
	src, live := t.src.String(), t.live()
	left := t.breaks + strings.Count(live, "\n") - len(src) - len(live)
	if live = strings.TrimRight(live, "\n"); live == "" {
		src = strings.TrimRight(src, "\n")
	}
	left += len(src) + len(live) // line breaks in what is not blank at the end
	room := 8 * n * width
	before := whole(src, max(0, len(src)-room))
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
	from = whole(src, from)
	w := &wrapping{ruler: ruler{width, t.breaking()}}
	w.append(src[from:])
	lines, _ = w.view()
	hidden = left - strings.Count(src[from:], "\n")
	if before+from > 0 {
		hidden = max(hidden, 1)
	}
	if cut := len(lines) - n; cut > 0 {
		lines = lines[cut:]
		hidden += cut
	}
	return lines, hidden
}

// Head is the first n lines at a width, laid out likewise.
func (t *Text) Head(width, n int) []string {
	width = max(width, 1)
	src := t.src.String()
	if room := 8 * n * width; len(src) > room {
		src = src[:whole(src, room)]
	} else {
		src += t.live()
	}
	w := &wrapping{ruler: ruler{width, t.breaking()}}
	w.append(src)
	lines, _ := w.view()
	return lines[:min(n, len(lines))]
}

// whole is where the first rune begins in s[at:], behind the mark that is there.
func whole(s string, at int) int {
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	if esc := strings.LastIndexByte(s[max(0, at-maxMark):at], 0x1b); esc >= 0 {
		esc += max(0, at-maxMark)
		if n, _ := markAt(s[esc:]); esc+n > at {
			return esc + n
		}
	}
	return at
}

func (t *Text) breaking() breaking {
	if t.pre {
		return anywhere
	}
	return atWords
}
