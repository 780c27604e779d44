package transcriptview

import (
	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// growingText is text that is appended to, and kept in layout until it is closed.
type growingText interface {
	Append(s string)
	Close()
}

// textFeed gives what a fold grows as text to lay out. It keeps a text only while
// that grows; what is closed has its source and, near the screen, its lines.
type textFeed[T growingText] struct {
	text     T
	started  bool // there is a text
	consumed int  // of the source, in the text
}

// update is the source as text; what is new since the last call is appended.
func (f *textFeed[T]) update(source protocol.Text, open bool, create func() T) T {
	if !f.started || len(source) < f.consumed { // a source that was replaced is shorter
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

// estimateLines is about how many lines n bytes take.
func estimateLines(n, width int) int { return 1 + n/max(width-ui.Indent, 1)/2 }

// userMessage is what a person said: the message that started a turn.
type userMessage struct {
	itemAnchor
	styles  *ui.Styles
	message protocol.Message
	heading string
}

func (m *userMessage) Estimate(width int, _ bool) int {
	return 2 + estimateLines(len(m.message.Text), width)
}

func (m *userMessage) Block(width int, _ bool) transcript.Block {
	text := transcript.NewText()
	text.Append(m.message.Text)
	for _, p := range m.message.Parts {
		text.Append("\n[" + p.Type + " " + p.Name + p.URL + p.Blob + "]")
	}
	body, bytes := text.Lines(width - ui.Indent)
	bar := m.styles.User.Render("▎")
	return transcript.Block{
		Header: []string{"", " " + m.styles.User.Render(ui.Fit(transcript.Clean(m.heading), width-1))},
		Body:   body, Bytes: bytes,
		RenderLine: func(line string) string { return " " + bar + " " + line },
	}
}

// agentMessage is what the agent says, in markdown. Without a head it goes on with what
// it said.
type agentMessage struct {
	itemAnchor
	styles      *ui.Styles
	item        *protocol.Item
	heading     string
	feed        textFeed[*transcript.Markdown]
	interrupted string // why it did not come to its end
}

func (m *agentMessage) markInterrupted(why string) { m.interrupted = why }

func (m *agentMessage) Estimate(width int, folded bool) int {
	if folded && m.item.Task != "" {
		return 3
	}
	return 2 + estimateLines(len(m.item.Text), width)
}

func (m *agentMessage) Block(width int, folded bool) transcript.Block {
	text := m.feed.update(m.item.Text, m.item.Open, transcript.NewMarkdown)
	b := transcript.Block{Header: []string{""}, RenderLine: func(line string) string { return "   " + m.styles.RenderLine(line) }}
	if m.heading != "" {
		b.Header = append(b.Header, " "+m.styles.Agent.Render(ui.Fit(transcript.Clean(m.heading), width-1)))
	}
	b.Body, b.Bytes = text.Lines(width - ui.Indent)
	if len(b.Body) == 0 && !m.item.Open {
		b.Header = nil
	} else if folded && m.item.Task != "" {
		b = m.collapse(b, width)
	}
	if m.interrupted != "" {
		b.Footer = []string{"   " + m.styles.Warning.Render(ui.Fit("⊘ "+m.interrupted, width-ui.Indent))}
	}
	return b
}

// collapse is what a task says on a line, with its last one while it grows: the
// checklist of the plan tells the rest.
func (m *agentMessage) collapse(b transcript.Block, width int) transcript.Block {
	n := len(b.Body)
	b.Header[1] = ui.Fit(" "+m.styles.Dim.Render("▸ ")+m.styles.Agent.Render(transcript.Clean(m.heading))+m.styles.Dim.Render(" · "+ui.Count(n, "line")), width)
	if b.Body = b.Body[max(0, n-1):]; !m.item.Open {
		b.Body = nil
	}
	b.Bytes = 0
	return b
}

// interruptedText says in words why something did not come to its end.
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

// reasoning is the agent's reasoning: folded to its length, with its last line
// while it grows.
type reasoning struct {
	itemAnchor
	styles      *ui.Styles
	item        *protocol.Item
	feed        textFeed[*transcript.Text]
	task        string // of a plan, by its title
	interrupted string // why it did not come to its end
}

func (r *reasoning) markInterrupted(why string) { r.interrupted = why }

func (r *reasoning) Estimate(width int, folded bool) int {
	if folded {
		return 2
	}
	return 2 + estimateLines(len(r.item.Text), width)
}

func (r *reasoning) Block(width int, folded bool) transcript.Block {
	text := r.feed.update(r.item.Text, r.item.Open, transcript.NewText)
	renderLine := func(line string) string { return "   " + r.styles.Dim.Render(line) }
	word := "thought"
	if r.item.Open {
		word = "thinking"
	}
	if r.task != "" {
		word = ui.OneLine(transcript.Clean(r.task)) + " · " + word
	}
	if r.interrupted != "" {
		word += " · " + r.interrupted
	}
	if !folded {
		body, bytes := text.Lines(width - ui.Indent)
		return transcript.Block{Header: []string{"", r.styles.Dim.Render(" ▾ " + word)}, Body: body, Bytes: bytes, RenderLine: renderLine}
	}
	last, hidden := text.Tail(width-ui.Indent, 1)
	b := transcript.Block{Header: []string{"", r.styles.Dim.Render(" ▸ " + word + " · " + ui.Count(hidden+len(last), "line"))}, RenderLine: renderLine}
	if r.item.Open {
		b.Body = last
	}
	return b
}
