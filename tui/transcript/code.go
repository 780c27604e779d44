package transcript

import (
	"strings"

	"agentctl/tui/highlight"
)

// codeLayout lays out the lines of a code block, in order.
type codeLayout struct {
	known   bool // the language is known
	scanner highlight.Scanner
}

func newCodeLayout(language string) codeLayout {
	l := highlight.ByName(language)
	return codeLayout{l != nil, l.NewScanner()}
}

// wrap lays out the next line of code, which can break anywhere. Code of an unknown language has
// one style.
func (c *codeLayout) wrap(line string, width int) []string {
	line = expandTabs(strings.TrimSuffix(line, "\n"))
	r := &StyledText{}
	if c.known {
		r.AppendCode(line, c.scanner.Scan(line, nil), 0)
	} else {
		r.Append(line, Code)
	}
	return r.wrap(width, breakAnywhere)
}

// codeMark begins the continuation of a line of code, whose own text has no such style.
const (
	codeMark      = "↪ "
	codeMarkWidth = 2
)

// wrapIndented is wrap with a margin of a cell on both sides, on the ground of a code block.
func (c *codeLayout) wrapIndented(line string, width int) []string {
	margin := ""
	if width > 2 {
		margin, width = " ", width-2
	}
	scanner := c.scanner
	out := c.wrap(line, width)
	if len(out) > 1 && width > 2*codeMarkWidth {
		c.scanner = scanner
		out = c.wrap(line, width-codeMarkWidth)
		for i := range out[1:] {
			out[i+1] = withMark(codeMark, Faint) + out[i+1]
		}
	}
	for i := range out {
		out[i] = onGround(margin+out[i], width+2*len(margin))
	}
	return out
}

// tokenStyles maps highlight.Kind to styles.
var tokenStyles = [...]Style{
	highlight.Comment: Faint,
	highlight.String:  Green,
	highlight.Number:  Cyan,
	highlight.Keyword: Magenta,
	highlight.Type:    Yellow,
	highlight.Name:    Blue,
	highlight.Key:     Blue,
	highlight.Meta:    Yellow,
	highlight.Heading: Strong,
	highlight.Added:   Added,
	highlight.Removed: Removed,
}

// NewCode returns a closed text of highlighted code.
func NewCode(l *highlight.Language, s string) *Text {
	t := &Text{mode: breakAnywhere}
	scanner := l.NewScanner()
	for line := range strings.SplitSeq(strings.TrimSuffix(Clean(s), "\n"), "\n") {
		r := &StyledText{}
		r.AppendCode(line, scanner.Scan(line, nil), 0)
		t.src.WriteString(r.marked() + "\n")
		t.newlines++
	}
	return t
}

// CodeBlocks returns the contents of the fenced code blocks of a markdown text, each without the
// indentation of its fence. It includes an unclosed block at the end.
func CodeBlocks(src string) []string {
	var blocks []string
	var block strings.Builder
	fence, indent := "", 0
	for line := range strings.Lines(src) {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case fence == "":
			if fence, _ = opensFence(strings.TrimRight(trimmed, "\n")); fence != "" {
				indent = len(line) - len(trimmed)
				block.Reset()
			}
		case closesFence(strings.TrimRight(trimmed, "\n"), fence):
			blocks = append(blocks, block.String())
			fence = ""
		default:
			block.WriteString(line[min(indent, len(line)-len(trimmed)):])
		}
	}
	if fence != "" {
		blocks = append(blocks, block.String())
	}
	return blocks
}
