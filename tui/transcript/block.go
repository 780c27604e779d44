package transcript

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// lineOverhead is the size in bytes of a line's string header.
const lineOverhead = 16

// Block holds the rendered lines of one item. A List truncates lines wider than its window.
type Block struct {
	Header []string
	Body   []string
	Footer []string
	// Bytes is the approximate size of Body, counted by the cache. If it is zero, the list counts
	// it.
	Bytes int
	// RenderLine renders a body line when it is drawn. If it is nil, body lines are drawn as they
	// are. It saves rendering a long body that is mostly off the screen.
	RenderLine func(line string) string
}

func (b *Block) height() int { return len(b.Header) + len(b.Body) + len(b.Footer) }

func (b *Block) line(i int) string {
	if i < len(b.Header) {
		return b.Header[i]
	}
	i -= len(b.Header)
	if i < len(b.Body) {
		if b.RenderLine != nil {
			return b.RenderLine(b.Body[i])
		}
		return b.Body[i]
	}
	return b.Footer[i-len(b.Body)]
}

// bars are the bars that a margin can have.
const bars = "▎▏"

// text returns a line as plain text: a body line without the additions of RenderLine, a header or
// footer line without its margin. A line of a picture has no text.
func (b *Block) text(i int) string {
	j := i - len(b.Header)
	switch inBody := j >= 0 && j < len(b.Body); {
	case inBody && isPicture(b.Body[j]), !inBody && isPicture(b.line(i)):
		return ""
	case inBody:
		return strings.TrimRight(ansi.Strip(b.Body[j]), " ")
	}
	return strings.Trim(ansi.Strip(b.line(i)), " "+bars)
}

func (b *Block) size() int {
	n := b.Bytes
	if n == 0 {
		n = sizeOf(b.Body)
	}
	return n + sizeOf(b.Header) + sizeOf(b.Footer) + 128
}

func sizeOf(lines []string) int {
	n := 0
	for _, line := range lines {
		n += len(line) + lineOverhead
	}
	return n
}
