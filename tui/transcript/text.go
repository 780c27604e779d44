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
	src     strings.Builder
	breaks  int // newlines in src

	open   bool
	layout *wrapping
	laid   int // bytes of src in the layout
}

// NewText is an open, empty text of prose: lines break at words.
func NewText() *Text { return &Text{open: true} }

// NewOutput is an open, empty text whose columns matter: lines break anywhere.
func NewOutput() *Text { return &Text{open: true, pre: true} }

// Append cleans s and adds it. No rune may be cut between two appends.
func (t *Text) Append(s string) {
	s = t.cleaner.Clean(s)
	t.breaks += strings.Count(s, "\n")
	t.src.WriteString(s)
}

// Close says that no more will come soon; a later Append is still shown.
func (t *Text) Close() { t.open, t.layout, t.laid = false, nil, 0 }

// String is the clean text.
func (t *Text) String() string { return t.src.String() }

// Len is the length of the clean text in bytes.
func (t *Text) Len() int { return t.src.Len() }

// Estimate is about how many lines the text takes, in constant time.
func (t *Text) Estimate(width int) int {
	if t.src.Len() == 0 {
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
	return w.view()
}

// Tail is the last n lines at a width, and about how many come before them. It
// lays out what it shows, however long the text is.
func (t *Text) Tail(width, n int) (lines []string, hidden int) {
	width = max(width, 1)
	src := strings.TrimRight(t.src.String(), "\n")
	from := len(src)
	least := max(0, len(src)-4*n*width)
	seen := 0
	for from > least {
		if src[from-1] == '\n' {
			if seen++; seen == n {
				break
			}
		}
		from--
	}
	for from < len(src) && !utf8.RuneStart(src[from]) {
		from++
	}
	w := &wrapping{ruler: ruler{width, t.breaking()}}
	w.append(src[from:])
	lines, _ = w.view()
	hidden = t.breaks - strings.Count(t.src.String()[from:], "\n")
	if from > 0 {
		hidden = max(hidden, 1)
	}
	if cut := len(lines) - n; cut > 0 {
		lines = lines[cut:]
		hidden += cut
	}
	return lines, hidden
}

func (t *Text) breaking() breaking {
	if t.pre {
		return anywhere
	}
	return atWords
}
