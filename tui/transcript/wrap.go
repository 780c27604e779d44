package transcript

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const tabStop = 4

// breakMode says where a line that is too long may end.
type breakMode uint8

const (
	breakAtWords breakMode = iota // at spaces and around wide characters, else anywhere
	breakAnywhere
)

// lineBreaker knows where the lines of a paragraph end.
type lineBreaker struct {
	width int
	mode  breakMode
}

// wrappedText is clean text laid out at one width. Appending lays out the delta
// and at most two lines before it: what a grapheme that grows can still change.
type wrappedText struct {
	lineBreaker

	lines []string
	open  int    // the first line that an append may change
	tail  string // the text from that line on
	bytes int    // of lines[:open]
}

func (w *wrappedText) append(s string) {
	if s != "" {
		w.layout(w.tail + s)
	}
}

// viewWith is the view as if s were appended.
func (w *wrappedText) viewWith(s string) ([]string, int) {
	open, tail, bytes := w.open, w.tail, w.bytes
	w.layout(tail + s)
	lines, n := w.view()
	w.open, w.tail, w.bytes = open, tail, bytes
	return lines, n
}

// layout lays text out from the open line on.
func (w *wrappedText) layout(text string) {
	w.lines = w.lines[:w.open]
	for {
		para, rest, more := strings.Cut(text, "\n")
		starts := w.lineStarts(para)
		keep := max(0, len(starts)-2)
		carry := activeStyle{enabled: strings.IndexByte(para, 0x1b) >= 0}
		kept := ""
		for i, start := range starts {
			end := len(para)
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			if i == keep {
				kept = carry.mark
			}
			w.lines = append(w.lines, carry.enclose(w.expandLine(para[start:end])))
		}
		if more {
			w.closeLines(len(w.lines))
			text = rest
			continue
		}
		w.closeLines(len(w.lines) - (len(starts) - keep))
		w.tail = kept + para[starts[keep]:]
		return
	}
}

// activeStyle carries marks over the lines of a paragraph, so that each has its own.
type activeStyle struct {
	enabled bool
	mark    string // in force where the next line begins
}

func (c *activeStyle) enclose(line string) string {
	if !c.enabled {
		return line
	}
	out := c.mark + line
	if at := strings.LastIndexByte(line, 0x1b); at >= 0 {
		c.mark = ""
		if n, style := parseMark(line[at:]); style != 0 {
			c.mark = line[at : at+n]
		}
	}
	if c.mark != "" {
		out += markEnd
	}
	return out
}

// closeLines fixes every line before end.
func (w *wrappedText) closeLines(end int) {
	for _, line := range w.lines[w.open:end] {
		w.bytes += len(line) + lineOverhead
	}
	w.open = end
}

// view is the lines without the empty ones at the end, and about how many bytes they hold.
func (w *wrappedText) view() ([]string, int) {
	lines, bytes := w.lines, w.bytes
	for _, line := range lines[w.open:] {
		bytes += len(line) + lineOverhead
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines, bytes
}

// lineStarts gives where each line of a paragraph begins. A break depends only on the text since
// the line's start, and spaces at a break hang behind the line, so a later append never moves an
// earlier break.
func (r lineBreaker) lineStarts(s string) []int {
	starts := []int{0}
	line, word := 0, 0 // where the current line and word begin
	col, wordCol := 0, 0
	blank := true // nothing but spaces before the word
	emit := func(end int) {
		line = end
		starts = append(starts, end)
	}
	for i := 0; i < len(s); {
		n, cells := cluster(s[i:])
		space := s[i] == ' ' && n == 1 || s[i] == '\t'
		if s[i] == '\t' {
			cells = r.tabWidth(col)
		}
		if space && r.mode == breakAtWords {
			col += cells
			i += n
			blank = blank && word == i-n
			word, wordCol = i, col
			continue
		}
		if cells > 1 && r.mode == breakAtWords {
			blank = blank && word == i
			word, wordCol = i, col
		}
		if col+cells > r.width && i > line {
			indented := blank && i > word && wordCol+1 < r.width
			if word > line && r.mode == breakAtWords && !indented {
				emit(word)
				col -= wordCol
				word, wordCol = line, 0
			}
			if col+cells > r.width && i > line {
				emit(i)
				col, word, wordCol = 0, i, 0
			}
			blank = true
			if s[i] == '\t' {
				cells = r.tabWidth(0)
			}
		}
		col += cells
		i += n
		if cells > 1 && r.mode == breakAtWords {
			blank = false
			word, wordCol = i, col
		}
	}
	return starts
}

// cluster is the length and the cells of the first grapheme cluster, or mark.
func cluster(s string) (n, cells int) {
	if s[0] < 0x80 && (len(s) == 1 || s[1] < 0x80) {
		if s[0] < 0x20 {
			if n, _ := parseMark(s); n > 0 {
				return n, 0
			}
			return 1, 0
		}
		return 1, 1
	}
	first, cells := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return len(first), cells
}

// tabWidth is how many cells a tab takes at a column. Where lines break anywhere it
// does not reach over the end of the line.
func (r lineBreaker) tabWidth(col int) int {
	cells := tabStop - col%tabStop
	if r.mode == breakAnywhere && col < r.width {
		return min(cells, r.width-col)
	}
	return cells
}

// expandLine turns tabs into spaces, which a terminal cannot misplace, and drops
// the spaces that hang behind a line broken at words.
func (r lineBreaker) expandLine(s string) string {
	if r.mode == breakAtWords {
		s = strings.TrimRight(s, " \t")
	}
	if !strings.Contains(s, "\t") {
		return s
	}
	var out strings.Builder
	col := 0
	for i := 0; i < len(s); {
		n, cells := cluster(s[i:])
		if s[i] == '\t' {
			cells = r.tabWidth(col)
			out.WriteString("        "[:cells])
		} else {
			out.WriteString(s[i : i+n])
		}
		col += cells
		i += n
	}
	return out.String()
}
