package transcript

import (
	"strings"
	"unicode/utf8"
)

// blockMax is how much text without a blank line is one block at most, so that
// the open end of a text stays cheap to draw.
const blockMax = 8 << 10

// Markdown is untrusted markdown that may still be growing. It is laid out block
// by block: a block that is closed is never laid out again at that width, only
// the open one at the end is, at each draw. Code in a fence is laid out and coloured
// line by line. A block is closed by a blank line and a next line that is not indented;
// a fence begins and ends by lines of its own.
type Markdown struct {
	cleaner Cleaner
	src     strings.Builder
	breaks  int // newlines in src
	open    bool
	layout  *pages
}

// NewMarkdown is an open, empty markdown text.
func NewMarkdown() *Markdown { return &Markdown{open: true} }

// Append cleans s and adds it. No rune may be cut between two appends.
func (p *Markdown) Append(s string) {
	s = p.cleaner.Clean(s)
	p.breaks += strings.Count(s, "\n")
	p.src.WriteString(s)
}

// Close says that no more will come soon; a later Append is still shown.
func (p *Markdown) Close() { p.open, p.layout = false, nil }

// String is the clean text.
func (p *Markdown) String() string { return p.src.String() }

// Lines is the text at a width of at least one cell and about how many bytes
// its lines hold. The slice is valid until the next call and must not be changed.
func (p *Markdown) Lines(width int) ([]string, int) {
	width = max(width, 1)
	l := p.layout
	if l == nil || l.width != width {
		l = &pages{width: width}
	}
	if p.open {
		p.layout = l
	}
	return l.lay(p.src.String(), !p.open)
}

// pages is prose laid out at one width as far as its blocks are closed.
type pages struct {
	width int

	lines  []string // of closed blocks; what lies behind closed is the open one's
	closed int
	bytes  int // of lines[:closed]

	from  int    // where the open block begins in the source
	scan  int    // the first line that was not looked at
	blank bool   // a blank line came since the block's last line
	fence string // that the code is in, or empty
	source
}

// lay closes what can be closed and draws the rest. whole says that nothing
// follows, so that the last line counts although it has no end.
func (l *pages) lay(src string, whole bool) ([]string, int) {
	l.lines = l.lines[:l.closed]
	for {
		if l.fence == "" && len(src)-l.from > blockMax && l.scan-l.from <= blockMax {
			if end := strings.IndexByte(src[l.scan:], '\n'); end < 0 || l.scan+end-l.from >= blockMax {
				l.cut(src)
				continue
			}
		}
		end := strings.IndexByte(src[l.scan:], '\n')
		if end < 0 {
			break
		}
		l.line(src, l.scan, l.scan+end)
		l.scan += end + 1
	}
	rest := src[l.scan:]
	if whole && rest != "" {
		l.line(src, l.scan, len(src))
		l.scan, rest = len(src), ""
	}
	if l.blank && rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		l.flush(src, l.scan)
	}
	l.draw(src, rest)
	bytes := l.bytes + sizeOf(l.lines[l.closed:])
	out := l.lines
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out, bytes
}

// draw adds the open block's lines; they are dropped at the next lay.
func (l *pages) draw(src, rest string) {
	switch {
	case l.fence != "":
		if rest != "" && !closesFence(rest, l.fence) {
			ahead := l.source
			l.lines = append(l.lines, ahead.fenced(rest, l.width)...)
		}
	case strings.TrimSpace(src[l.from:]) != "":
		l.lines = append(l.apart(l.lines), renderMarkdown(src[l.from:], l.width)...)
	}
}

// line looks at one whole line of the source.
func (l *pages) line(src string, start, end int) {
	line := src[start:end]
	next := min(end+1, len(src))
	switch {
	case l.fence != "":
		if closesFence(line, l.fence) {
			l.fence = ""
		} else {
			l.lines = append(l.lines, l.fenced(line, l.width)...)
			l.keep()
		}
		l.from = next
	case strings.TrimSpace(line) == "":
		l.blank = strings.TrimSpace(src[l.from:start]) != ""
		if !l.blank {
			l.from = next
		}
	default:
		indented := line[0] == ' ' || line[0] == '\t'
		if l.blank && !indented {
			l.flush(src, start)
		}
		if fence, info := opensFence(line); fence != "" && (!indented || strings.TrimSpace(src[l.from:start]) == "") {
			l.flush(src, start)
			l.lines = l.apart(l.lines)
			l.keep()
			l.fence, l.source = fence, newSource(info)
			l.from = next
		}
		l.blank = false
	}
}

// flush closes the open block, which ends where the next one begins.
func (l *pages) flush(src string, end int) {
	if block := src[l.from:end]; strings.TrimSpace(block) != "" {
		l.lines = append(l.apart(l.lines), renderMarkdown(block, l.width)...)
		l.keep()
	}
	l.from, l.blank = end, false
}

// cut closes a block that is too long, at a line's or a word's end if it has one.
func (l *pages) cut(src string) {
	head := src[l.from : l.from+blockMax]
	at := strings.LastIndexByte(head, '\n') + 1
	if at == 0 {
		at = strings.LastIndexByte(head, ' ') + 1
	}
	if at == 0 {
		at = blockMax
		for !utf8.RuneStart(src[l.from+at]) {
			at--
		}
	}
	l.flush(src, l.from+at)
	l.scan = l.from
}

// keep makes all lines so far those of closed blocks.
func (l *pages) keep() {
	l.bytes += sizeOf(l.lines[l.closed:])
	l.closed = len(l.lines)
}

// apart adds a blank line behind what is there.
func (l *pages) apart(lines []string) []string {
	if len(lines) == 0 || lines[len(lines)-1] == "" {
		return lines
	}
	return append(lines, "")
}

// opensFence gives the fence that a line opens, and its language.
func opensFence(line string) (fence, info string) {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return "", ""
	}
	after := strings.TrimLeft(rest, rest[:1])
	fence = rest[:len(rest)-len(after)]
	if len(fence) < 3 || rest[0] == '`' && strings.Contains(after, "`") {
		return "", ""
	}
	info, _, _ = strings.Cut(strings.TrimSpace(after), " ")
	return fence, info
}

// closesFence tells that a line ends what the fence began.
func closesFence(line, fence string) bool {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 {
		return false
	}
	rest = strings.TrimRight(rest, " \t")
	return len(rest) >= len(fence) && strings.Trim(rest, fence[:1]) == ""
}
