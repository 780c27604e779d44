package ui

import (
	"strings"

	"agentctl/protocol"
	"agentctl/tui/highlight"
	"agentctl/tui/transcript"
)

// chunkBytes is the approximate size in bytes of one item of a long text.
const chunkBytes = 16 << 10

// chunk is an item with a part of a long text. It is parsed and rendered when it becomes visible.
type chunk struct {
	styles *Styles
	raw    string // the unparsed text
	lines  int
	parse  func(raw string) *transcript.Text
}

func (c *chunk) Estimate(width int, _ bool) int {
	return max(c.lines, len(c.raw)/max(width, 80)) // the width may be 0 before the first layout
}

func (c *chunk) Block(width int, _ bool) transcript.Block {
	body, bytes := c.parse(c.raw).Lines(width)
	blank := len(c.raw) - len(strings.TrimRight(c.raw, "\n")) - 1
	for range blank {
		body = append(body, "") // Lines omits trailing blank lines
	}
	return transcript.Block{Body: body, Bytes: bytes, RenderLine: c.styles.RenderLine}
}

// MayMatch reports whether a line of the text may match a query.
func (c *chunk) MayMatch(q *protocol.Query) bool { return q.Match(c.raw) }

// TextItems splits text into items, at line breaks where possible. parse parses the text of each
// item.
func TextItems(s *Styles, text string, parse func(raw string) *transcript.Text) []transcript.Item {
	var out []transcript.Item
	for text != "" {
		n := len(text)
		if n > chunkBytes {
			n = chunkBytes
			if at := strings.LastIndexByte(text[:n], '\n'); at >= 0 {
				n = at + 1
			}
			for n < len(text) && text[n]&0xc0 == 0x80 {
				n++
			}
		}
		raw := text[:n]
		out = append(out, &chunk{s, raw, strings.Count(raw, "\n"), parse})
		text = text[n:]
	}
	return out
}

// AsTerminalOutput parses a text as the output of a program.
func AsTerminalOutput(raw string) *transcript.Text {
	t := transcript.NewTerminalOutput()
	t.Append(raw)
	return t
}

// AsPreformatted parses a text with significant columns.
func AsPreformatted(raw string) *transcript.Text {
	t := transcript.NewPreformatted()
	t.Append(raw)
	return t
}

// AsCode returns a function that parses a text as source code.
func AsCode(l *highlight.Language) func(string) *transcript.Text {
	return func(raw string) *transcript.Text { return transcript.NewCode(l, raw) }
}

// TextItem returns a short text as an item with a style.
func TextItem(text string, style Style) transcript.Item {
	t := transcript.NewText()
	t.Append(text)
	return textItem{t, style}
}

// textItem is a short text as an item.
type textItem struct {
	text  *transcript.Text
	style Style
}

func (t textItem) Estimate(width int, _ bool) int { return t.text.Estimate(width) }

func (t textItem) Block(width int, _ bool) transcript.Block {
	body, bytes := t.text.Lines(width)
	render := func(line string) string { return t.style.Render(line) }
	return transcript.Block{Body: body, Bytes: bytes, RenderLine: render}
}

// Indent is the left margin of an item in cells. Its first column holds the mark of the list.
const Indent = 3
