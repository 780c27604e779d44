package transcript

import (
	"strings"
	"unicode/utf8"
)

// maxBlockBytes bounds a block without a blank line, so that drawing the open block stays cheap.
const maxBlockBytes = 8 << 10

// markdownLayout is the layout of growing markdown at one width.
type markdownLayout struct {
	width int

	lines  []string
	closed int // lines[:closed] belong to closed blocks, the rest to the open one
	bytes  int // size of lines[:closed]

	blockStart int    // offset of the open block in the source
	scanned    int    // offset of the first line not scanned
	afterBlank bool   // a blank line follows the block's last line
	fence      string // opening fence of the open code block, or empty
	codeLayout        // of that code block
}

// layout closes finished blocks and draws the open one. With complete, it scans a last line without
// newline as well.
func (l *markdownLayout) layout(src string, complete bool) ([]string, int) {
	l.lines = l.lines[:l.closed]
	for {
		if l.fence == "" && len(src)-l.blockStart > maxBlockBytes && l.scanned-l.blockStart <= maxBlockBytes {
			if end := strings.IndexByte(src[l.scanned:], '\n'); end < 0 || l.scanned+end-l.blockStart >= maxBlockBytes {
				l.splitBlock(src)
				continue
			}
		}
		end := strings.IndexByte(src[l.scanned:], '\n')
		if end < 0 {
			break
		}
		l.addLine(src, l.scanned, l.scanned+end)
		l.scanned += end + 1
	}
	rest := src[l.scanned:]
	if complete && rest != "" {
		l.addLine(src, l.scanned, len(src))
		l.scanned, rest = len(src), ""
	}
	if l.afterBlank && rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		l.closeBlock(src, l.scanned)
	}
	l.drawOpen(src, rest)
	bytes := l.bytes + sizeOf(l.lines[l.closed:])
	out := l.lines
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out, bytes
}

// drawOpen appends the lines of the open block. The next layout drops them.
func (l *markdownLayout) drawOpen(src, rest string) {
	switch {
	case l.fence != "":
		if rest != "" && !closesFence(rest, l.fence) {
			ahead := l.codeLayout
			l.lines = append(l.lines, ahead.wrapIndented(rest, l.width)...)
		}
	case strings.TrimSpace(src[l.blockStart:]) != "":
		l.lines = append(l.appendGap(l.lines), renderMarkdown(src[l.blockStart:], l.width)...)
	}
}

// addLine scans the line src[start:end].
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
		l.blockStart = next
	case strings.TrimSpace(line) == "":
		l.afterBlank = strings.TrimSpace(src[l.blockStart:start]) != ""
		if !l.afterBlank {
			l.blockStart = next
		}
	default:
		indented := line[0] == ' ' || line[0] == '\t'
		if l.afterBlank && !indented {
			l.closeBlock(src, start)
		}
		fence, info := opensFence(line)
		if fence != "" && (!indented || strings.TrimSpace(src[l.blockStart:start]) == "") {
			l.closeBlock(src, start)
			l.lines = appendLanguage(l.appendGap(l.lines), info, l.width)
			l.commit()
			l.fence, l.codeLayout = fence, newCodeLayout(info)
			l.blockStart = next
		}
		l.afterBlank = false
	}
}

// closeBlock renders and closes the open block. The next block begins at end.
func (l *markdownLayout) closeBlock(src string, end int) {
	if block := src[l.blockStart:end]; strings.TrimSpace(block) != "" {
		l.lines = append(l.appendGap(l.lines), renderMarkdown(block, l.width)...)
		l.commit()
	}
	l.blockStart, l.afterBlank = end, false
}

// splitBlock closes the start of an overlong block, up to the end of a line or word if it has one.
func (l *markdownLayout) splitBlock(src string) {
	head := src[l.blockStart : l.blockStart+maxBlockBytes]
	at := strings.LastIndexByte(head, '\n') + 1
	if at == 0 {
		at = strings.LastIndexByte(head, ' ') + 1
	}
	if at == 0 {
		at = maxBlockBytes
		for !utf8.RuneStart(src[l.blockStart+at]) {
			at--
		}
	}
	l.closeBlock(src, l.blockStart+at)
	l.scanned = l.blockStart
}

// commit assigns all lines to closed blocks.
func (l *markdownLayout) commit() {
	l.bytes += sizeOf(l.lines[l.closed:])
	l.closed = len(l.lines)
}

// appendGap appends a blank line to separate blocks.
func (l *markdownLayout) appendGap(lines []string) []string {
	if len(lines) == 0 || lines[len(lines)-1] == "" {
		return lines
	}
	return append(lines, "")
}

// opensFence returns the code fence that a line opens, and its language.
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
	return fence, firstWord(after)
}

// firstWord returns the first word of the text after a fence: the language.
func firstWord(after string) string {
	if words := strings.Fields(after); len(words) > 0 {
		return words[0]
	}
	return ""
}

// closesFence reports whether a line closes the fence.
func closesFence(line, fence string) bool {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 {
		return false
	}
	rest = strings.TrimRight(rest, " \t")
	return len(rest) >= len(fence) && strings.Trim(rest, fence[:1]) == ""
}
