package transcriptview

import (
	"slices"

	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// mixedOutput is the output of a tool call of which a part is Markdown. A blank line separates its
// parts. It keeps the lines of the last width.
type mixedOutput struct {
	parts []describe.ContentText
	width int // 0: none
	lines []string
	bytes int
}

// newMixedOutput returns output followed by structured content. ok is false if none of it is
// Markdown, or if it is too long for a complete layout.
func newMixedOutput(output string, content []describe.ContentText) (m *mixedOutput, ok bool) {
	size := len(output)
	for _, c := range content {
		size += len(c.Text)
	}
	markdown := slices.ContainsFunc(content, func(c describe.ContentText) bool { return c.Markdown })
	if !markdown || size > maxWholeOutput {
		return nil, false
	}
	if output != "" {
		content = slices.Insert(content, 0, describe.ContentText{Text: output})
	}
	return &mixedOutput{parts: content}, true
}

// Lines returns the lines of the output at a width, and their approximate size in bytes.
func (m *mixedOutput) Lines(width int) ([]string, int) {
	if width = max(width, 1); m.width == width {
		return m.lines, m.bytes
	}
	m.width, m.lines, m.bytes = width, nil, 0
	for _, part := range m.parts {
		var lines []string
		var bytes int
		if part.Markdown {
			text := transcript.NewMarkdown()
			text.Append(part.Text)
			text.Close()
			lines, bytes = text.Lines(width)
		} else {
			lines, bytes = ui.AsTerminalOutput(part.Text).Lines(width)
		}
		if len(lines) > 0 && len(m.lines) > 0 {
			m.lines = append(m.lines, "")
		}
		m.lines, m.bytes = append(m.lines, lines...), m.bytes+bytes
	}
	return m.lines, m.bytes
}

// Head returns the first n lines at a width.
func (m *mixedOutput) Head(width, n int) []string {
	lines, _ := m.Lines(width)
	return lines[:min(n, len(lines))]
}

// Tail returns the last n lines at a width, and the number of lines before them.
func (m *mixedOutput) Tail(width, n int) (lines []string, hidden int) {
	lines, _ = m.Lines(width)
	hidden = max(0, len(lines)-n)
	return lines[hidden:], hidden
}

// mixedItem is a mixed output in a pager.
type mixedItem struct {
	styles *ui.Styles
	output *mixedOutput
}

// Estimate implements transcript.Item.
func (m *mixedItem) Estimate(width int, _ bool) int {
	size := 0
	for _, part := range m.output.parts {
		size += len(part.Text)
	}
	return estimateLines(size, max(width, 80)) // the width may be 0 before the first layout
}

// Block implements transcript.Item.
func (m *mixedItem) Block(width int, _ bool) transcript.Block {
	lines, bytes := m.output.Lines(width)
	return transcript.Block{Body: lines, Bytes: bytes, RenderLine: m.styles.RenderLine}
}
