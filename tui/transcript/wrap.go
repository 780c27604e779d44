package transcript

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const tabStop = 4

// breakMode is where an overlong line can break.
type breakMode uint8

const (
	breakAtWords breakMode = iota // at spaces and around wide characters, else anywhere
	breakAnywhere
)

// lineBreaker breaks paragraphs into lines of at most width cells.
type lineBreaker struct {
	width int
	mode  breakMode
}

// wrappedText is clean text laid out at one width. An append lays out the appended part and at most
// two lines before it, because a growing grapheme can change these.
type wrappedText struct {
	lineBreaker

	lines []string
	open  int    // first line that an append can change
	tail  string // text from that line on
	bytes int    // size of lines[:open]
}

func (w *wrappedText) append(s string) {
	if s != "" {
		w.layout(w.tail + s)
	}
}

// viewWith returns the view of the text followed by s, without appending s.
func (w *wrappedText) viewWith(s string) ([]string, int) {
	open, tail, bytes := w.open, w.tail, w.bytes
	w.layout(tail + s)
	lines, n := w.view()
	w.open, w.tail, w.bytes = open, tail, bytes
	return lines, n
}

// layout lays out text from the open line on.
func (w *wrappedText) layout(text string) {
	w.lines = w.lines[:w.open]
	for {
		para, rest, more := strings.Cut(text, "\n")
		starts := w.lineStarts(para)
		keep := max(0, len(starts)-2)
		style := activeStyle{enabled: strings.IndexByte(para, 0x1b) >= 0}
		kept := ""
		for i, start := range starts {
			end := len(para)
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			if i == keep {
				kept = style.mark
			}
			w.lines = append(w.lines, style.enclose(w.expandLine(para[start:end])))
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

// activeStyle tracks the style mark in effect at the end of a line. Each line of a paragraph
// repeats and ends it, so that lines are independent.
type activeStyle struct {
	enabled bool   // the paragraph contains marks
	mark    string // in effect at the start of the next line
}

// enclose returns a line with the active mark before it and a closing mark after it.
func (a *activeStyle) enclose(line string) string {
	if !a.enabled {
		return line
	}
	out := a.mark + line
	if at := strings.LastIndexByte(line, 0x1b); at >= 0 {
		a.mark = ""
		if n, style := parseMark(line[at:]); style != 0 {
			a.mark = line[at : at+n]
		}
	}
	if a.mark != "" {
		out += markEnd
	}
	return out
}

// closeLines makes the lines before end final.
func (w *wrappedText) closeLines(end int) {
	w.bytes += sizeOf(w.lines[w.open:end])
	w.open = end
}

// view returns the lines, without empty ones at the end, and their approximate size in bytes.
func (w *wrappedText) view() ([]string, int) {
	lines, bytes := w.lines, w.bytes+sizeOf(w.lines[w.open:])
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines, bytes
}

// lineStarts returns the offset of each line of a paragraph. A break depends only on the text since
// the start of its line, and spaces at a break belong to the line before it. A later append
// therefore never moves an earlier break.
func (b lineBreaker) lineStarts(s string) []int {
	starts := []int{0}
	line, word := 0, 0 // start of the current line and word
	col, wordCol := 0, 0
	blank := true // the line has only spaces before the word
	emit := func(end int) {
		line = end
		starts = append(starts, end)
	}
	for i := 0; i < len(s); {
		n, cells := cluster(s[i:])
		space := s[i] == ' ' && n == 1 || s[i] == '\t'
		if s[i] == '\t' {
			cells = b.tabWidth(col)
		}
		if space && b.mode == breakAtWords {
			col += cells
			i += n
			blank = blank && word == i-n
			word, wordCol = i, col
			continue
		}
		if cells > 1 && b.mode == breakAtWords {
			blank = blank && word == i
			word, wordCol = i, col
		}
		if col+cells > b.width && i > line {
			indented := blank && i > word && wordCol+1 < b.width
			if word > line && b.mode == breakAtWords && !indented {
				emit(word)
				col -= wordCol
				word, wordCol = line, 0
			}
			if col+cells > b.width && i > line {
				emit(i)
				col, word, wordCol = 0, i, 0
			}
			blank = true
			if s[i] == '\t' {
				cells = b.tabWidth(0)
			}
		}
		col += cells
		i += n
		if cells > 1 && b.mode == breakAtWords {
			blank = false
			word, wordCol = i, col
		}
	}
	return starts
}

// cluster returns the length in bytes and the width in cells of the first grapheme cluster of s. A
// style mark is a cluster of no cells.
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

// tabWidth returns the width of a tab at a column. Where lines break anywhere, a tab does not
// extend past the end of the line.
func (b lineBreaker) tabWidth(col int) int {
	cells := tabStop - col%tabStop
	if b.mode == breakAnywhere && col < b.width {
		return min(cells, b.width-col)
	}
	return cells
}

// expandLine replaces tabs by spaces. For lines that break at words, it drops trailing spaces.
func (b lineBreaker) expandLine(s string) string {
	if b.mode == breakAtWords {
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
			cells = b.tabWidth(col)
			out.WriteString("        "[:cells])
		} else {
			out.WriteString(s[i : i+n])
		}
		col += cells
		i += n
	}
	return out.String()
}
