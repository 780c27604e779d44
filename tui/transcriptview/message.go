package transcriptview

import (
	"slices"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// growingText is a text layout that accepts appended text until it is closed.
type growingText interface {
	Append(s string)
	Close()
}

// textFeed copies the text of a protocol item to a text layout. It keeps the layout while the item
// is open, so that a delta costs its own length only.
type textFeed[T growingText] struct {
	text     T
	started  bool // text is set
	consumed int  // bytes of the source that text has
}

// update returns the layout of source. It appends the bytes that are new since the last call. It
// calls create for a new layout, also when source was replaced by a shorter one.
func (f *textFeed[T]) update(source protocol.Text, open bool, create func() T) T {
	if !f.started || len(source) < f.consumed { // replaced sources are shorter
		f.text, f.started, f.consumed = create(), true, 0
	}
	text := f.text
	if len(source) > f.consumed {
		text.Append(string(source[f.consumed:]))
		f.consumed = len(source)
	}
	if !open {
		text.Close()
		*f = textFeed[T]{}
	}
	return text
}

// estimateLines returns the approximate number of lines that n bytes take at a width.
func estimateLines(n, width int) int { return 1 + n/max(width-ui.Indent, 1)/2 }

// userMessage is the message that started a turn.
type userMessage struct {
	itemAnchor
	styles  *ui.Styles
	message protocol.Message
	heading heading

	pictures pictures
}

// Estimate implements transcript.Item.
func (m *userMessage) Estimate(width int, _ bool) int {
	return 2 + estimateLines(len(m.message.Text), width)
}

// Block implements transcript.Item.
func (m *userMessage) Block(width int, _ bool) transcript.Block {
	margin := gutter(&m.styles.User, userBar)
	return transcript.Block{
		Header:     []string{"", m.heading.line(m.styles, &m.styles.User, margin, width)},
		Body:       m.body(width - ui.Indent),
		RenderLine: func(line string) string { return margin + line },
	}
}

// body returns the lines of the text, of the files, and of their pictures.
func (m *userMessage) body(width int) (lines []string) {
	text := transcript.NewText()
	text.Append(m.message.Text)
	empty, file := m.message.Text == "", 0
	flush := func() {
		more, _ := text.Lines(min(width, transcript.MaxProse))
		lines = append(slices.Clip(lines), more...)
		text, empty = transcript.NewText(), true
	}
	for i := range m.message.Parts {
		if !empty {
			text.Append("\n")
		}
		empty = false
		f, isFile := describe.PartFile(&m.message.Parts[i])
		if !isFile {
			text.Append(m.message.Parts[i].Text)
			continue
		}
		picture := m.pictures.find(file)
		if file++; picture == nil {
			text.Append(f.Line())
			continue
		}
		f.Note = picture.note()
		text.Append(f.Line())
		if drawn := picture.lines(m.styles, width); len(drawn) > 0 {
			flush()
			lines = append(lines, drawn...)
		}
	}
	if !empty || len(lines) == 0 {
		flush()
	}
	return lines
}

// agentMessage is text of the agent in Markdown. It has no heading when it continues the message
// before.
type agentMessage struct {
	itemAnchor
	interruption
	styles  *ui.Styles
	heading heading
	feed    textFeed[*transcript.Markdown]
}

// Estimate implements transcript.Item.
func (m *agentMessage) Estimate(width int, collapsed bool) int {
	if collapsed && m.item.Task != "" {
		return 3
	}
	return 2 + estimateLines(len(m.item.Text), width)
}

// Block implements transcript.Item.
func (m *agentMessage) Block(width int, collapsed bool) transcript.Block {
	text := m.feed.update(m.item.Text, m.item.Open, transcript.NewMarkdown)
	b := agentBlock(m.styles, m.heading, text, width)
	if len(b.Body) == 0 && !m.item.Open {
		b.Header = nil
	} else if collapsed && m.item.Task != "" {
		b = m.collapse(b, width)
	}
	if m.interrupted != "" {
		b.Footer = []string{"   " + m.styles.Warning.Render(ui.Fit("⊘ "+m.interrupted, width-ui.Indent))}
	}
	return b
}

// agentBlock returns a text of the agent below its heading, if it has one.
func agentBlock(styles *ui.Styles, head heading, text lines, width int) transcript.Block {
	margin := gutter(&styles.Border, agentBar)
	b := transcript.Block{
		Header:     []string{""},
		RenderLine: func(line string) string { return margin + styles.RenderLine(line) },
	}
	if head.name != "" {
		b.Header = append(b.Header, head.line(styles, &styles.Agent, margin, width))
	}
	b.Body, b.Bytes = text.Lines(width - ui.Indent)
	return b
}

// lines is a text that is laid out for a width.
type lines interface {
	Lines(width int) (lines []string, bytes int)
}

// collapse reduces the message of a task to a heading with the number of lines, and to the last
// line while the message is open. The checklist shows the result of the task.
func (m *agentMessage) collapse(b transcript.Block, width int) transcript.Block {
	n := len(b.Body)
	name := m.styles.Agent.Render(transcript.Clean(m.heading.name)) + " " + m.styles.Dim.Render(m.heading.clock)
	count := m.styles.Dim.Render(" · " + format.Count(n, "line"))
	b.Header[1] = ui.Fit(" "+m.styles.Dim.Render("▸ ")+name+count, width)
	if b.Body = b.Body[max(0, n-1):]; !m.item.Open {
		b.Body = nil
	}
	b.Bytes = 0
	return b
}

// interruption is embedded by items that can be incomplete.
type interruption struct {
	interrupted string // the reason why it is incomplete, or empty
}

func (i *interruption) markInterrupted(reason string) { i.interrupted = reason }

// interruptedText returns the reason why an item that was open at the end of its turn is
// incomplete.
func interruptedText(end *protocol.TurnEndedData) string {
	switch {
	case end.Reason == protocol.ReasonInterrupted:
		return "interrupted"
	case end.Code == protocol.CodeServerRestart:
		return "cut off: the server restarted"
	case end.Reason == protocol.ReasonTimeout:
		return "cut off: it took too long"
	}
	return "cut off"
}

// reasoning is the reasoning of the agent. When collapsed it shows the number of lines, and the
// last line while it is open.
type reasoning struct {
	itemAnchor
	interruption
	styles *ui.Styles
	feed   textFeed[*transcript.Text]
	task   string // title of its task in a plan, or empty
	joined bool   // it continues a group
}

// Estimate implements transcript.Item.
func (r *reasoning) Estimate(width int, collapsed bool) int {
	if collapsed {
		return 2
	}
	return 2 + estimateLines(len(r.item.Text), width)
}

// Block implements transcript.Item.
func (r *reasoning) Block(width int, collapsed bool) transcript.Block {
	text := r.feed.update(r.item.Text, r.item.Open, transcript.NewText)
	renderLine := func(line string) string { return "   " + r.styles.Dim.Render(line) }
	state := "thought"
	if r.item.Open {
		state = "thinking"
	}
	if r.task != "" {
		state = transcript.CleanLine(r.task) + " · " + state
	}
	if r.interrupted != "" {
		state += " · " + r.interrupted
	}
	if !collapsed {
		body, bytes := text.Lines(min(width-ui.Indent, transcript.MaxProse))
		return transcript.Block{
			Header:     append(blankLines(r.joined), r.styles.Dim.Render(" ▾ "+state)),
			Body:       body,
			Bytes:      bytes,
			RenderLine: renderLine,
		}
	}
	last, hidden := text.Tail(min(width-ui.Indent, transcript.MaxProse), 1)
	b := transcript.Block{
		Header: append(blankLines(r.joined),
			r.styles.Dim.Render(" ▸ "+state+" · "+format.Count(hidden+len(last), "line"))),
		RenderLine: renderLine,
	}
	if r.item.Open {
		b.Body = last
	}
	return b
}
