package transcript

import (
	"strings"
	"unicode/utf8"
)

// maxBlockBytes is how much text without a blank line is one block at most, so that
// the open end of a text stays cheap to draw.
const maxBlockBytes = 8 << 10

// Markdown is untrusted markdown that may still be growing. It is laid out block
// by block: a block that is closed is never laid out again at that width, only
// the open one at the end is, at each draw. Code in a fence is laid out and coloured
// line by line. A block is closed by a blank line and a next line that is not indented;
// a fence begins and ends by lines of its own.
type Markdown struct {
	cleaner  Cleaner
	src      strings.Builder
	newlines int // newlines in src
	open     bool
	layout   *markdownLayout
}

// NewMarkdown is an open, empty markdown text.
func NewMarkdown() *Markdown { return &Markdown{open: true} }

// Append cleans s and adds it. No rune may be cut between two appends.
func (p *Markdown) Append(s string) {
	s = p.cleaner.Clean(s)
	p.newlines += strings.Count(s, "\n")
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
		l = &markdownLayout{width: width}
	}
	if p.open {
		p.layout = l
	}
	return l.layout(p.src.String(), !p.open)
}

// markdownLayout is prose laid out at one width as far as its blocks are closed.
type markdownLayout struct {
	width int

	lines  []string // of closed blocks; what lies behind closed is the open one's
	closed int
	bytes  int // of lines[:closed]

	from  int    // where the open block begins in the source
	scan  int    // the first line that was not looked at
	blank bool   // a blank line came since the block's last line
	fence string // that the code is in, or empty
	codeLayout
}

// layout closes what can be closed and draws the rest. whole says that nothing
// follows, so that the last line counts although it has no end.
func (l *markdownLayout) layout(src string, whole bool) ([]string, int) {
	l.lines = l.lines[:l.closed]
	for {
		if l.fence == "" && len(src)-l.from > maxBlockBytes && l.scan-l.from <= maxBlockBytes {
			if end := strings.IndexByte(src[l.scan:], '\n'); end < 0 || l.scan+end-l.from >= maxBlockBytes {
				l.splitBlock(src)
				continue
			}
		}
		end := strings.IndexByte(src[l.scan:], '\n')
		if end < 0 {
			break
		}
		l.addLine(src, l.scan, l.scan+end)
		l.scan += end + 1
	}
	rest := src[l.scan:]
	if whole && rest != "" {
		l.addLine(src, l.scan, len(src))
		l.scan, rest = len(src), ""
	}
	if l.blank && rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		l.closeBlock(src, l.scan)
	}
	l.drawOpen(src, rest)
	bytes := l.bytes + sizeOf(l.lines[l.closed:])
	out := l.lines
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out, bytes
}

// drawOpen adds the open block's lines; they are dropped at the next lay.
func (l *markdownLayout) drawOpen(src, rest string) {
	switch {
	case l.fence != "":
		if rest != "" && !closesFence(rest, l.fence) {
			ahead := l.codeLayout
			l.lines = append(l.lines, ahead.wrapIndented(rest, l.width)...)
		}
	case strings.TrimSpace(src[l.from:]) != "":
		l.lines = append(l.appendGap(l.lines), renderMarkdown(src[l.from:], l.width)...)
	}
}

// addLine looks at one whole line of the source.
func (l *markdownLayout) addLine(src string, start, end int) {
	line := src[start:end]
	next := min(end+1, len(src))
	switch {
	case l.fence != "":
		if closesFence(line, l.fence) {
			l.fence = ""
		} else {
			l.lines = append(l.lines, l.wrapIndented(line, l.width)...)
			l.commit()
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
			l.closeBlock(src, start)
		}
		if fence, info := opensFence(line); fence != "" && (!indented || strings.TrimSpace(src[l.from:start]) == "") {
			l.closeBlock(src, start)
			l.lines = l.appendGap(l.lines)
			l.commit()
			l.fence, l.codeLayout = fence, newCodeLayout(info)
			l.from = next
		}
		l.blank = false
	}
}

// closeBlock closes the open block, which ends where the next one begins.
func (l *markdownLayout) closeBlock(src string, end int) {
	if block := src[l.from:end]; strings.TrimSpace(block) != "" {
		l.lines = append(l.appendGap(l.lines), renderMarkdown(block, l.width)...)
		l.commit()
	}
	l.from, l.blank = end, false
}

// splitBlock closes a block that is too long, at a line's or a word's end if it has one.
func (l *markdownLayout) splitBlock(src string) {
	head := src[l.from : l.from+maxBlockBytes]
	at := strings.LastIndexByte(head, '\n') + 1
	if at == 0 {
		at = strings.LastIndexByte(head, ' ') + 1
	}
	if at == 0 {
		at = maxBlockBytes
		for !utf8.RuneStart(src[l.from+at]) {
			at--
		}
	}
	l.closeBlock(src, l.from+at)
	l.scan = l.from
}

// commit makes all lines so far those of closed blocks.
func (l *markdownLayout) commit() {
	l.bytes += sizeOf(l.lines[l.closed:])
	l.closed = len(l.lines)
}

// appendGap adds a blank line behind what is there.
func (l *markdownLayout) appendGap(lines []string) []string {
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
