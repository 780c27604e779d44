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
	text T
	live bool // there is a text
	seen int  // of the source, in the text
}

// take is the source as text; what is new since the last call is appended.
func (f *textFeed[T]) take(source protocol.Text, open bool, fresh func() T) T {
	if !f.live || len(source) < f.seen { // a source that was replaced is shorter
		f.text, f.live, f.seen = fresh(), true, 0
	}
	text := f.text
	if len(source) > f.seen {
		text.Append(string(source[f.seen:]))
		f.seen = len(source)
	}
	if !open {
		text.Close()
		*f = textFeed[T]{}
	}
	return text
}

// lines is about how many lines n bytes take.
func lines(n, width int) int { return 1 + n/max(width-ui.Indent, 1)/2 }

// userMessage is what a person said: the message that started a turn.
type userMessage struct {
	itemAnchor
	styles  *ui.Styles
	message protocol.Message
	head    string
}

func (a *userMessage) Estimate(width int, _ bool) int { return 2 + lines(len(a.message.Text), width) }

func (a *userMessage) Block(width int, _ bool) transcript.Block {
	text := transcript.NewText()
	text.Append(a.message.Text)
	for _, p := range a.message.Parts {
		text.Append("\n[" + p.Type + " " + p.Name + p.URL + p.Blob + "]")
	}
	body, bytes := text.Lines(width - ui.Indent)
	bar := a.styles.User.Render("▎")
	return transcript.Block{
		Header: []string{"", " " + a.styles.User.Render(ui.Fit(transcript.Clean(a.head), width-1))},
		Body:   body, Bytes: bytes,
		RenderLine: func(line string) string { return " " + bar + " " + line },
	}
}

// agentMessage is what the agent says, in markdown. Without a head it goes on with what
// it said.
type agentMessage struct {
	itemAnchor
	styles *ui.Styles
	item   *protocol.Item
	head   string
	feed   textFeed[*transcript.Markdown]
	cut    string // why it did not come to its end
}

func (s *agentMessage) cutOff(why string) { s.cut = why }

func (s *agentMessage) Estimate(width int, folded bool) int {
	if folded && s.item.Task != "" {
		return 3
	}
	return 2 + lines(len(s.item.Text), width)
}

func (s *agentMessage) Block(width int, folded bool) transcript.Block {
	text := s.feed.take(s.item.Text, s.item.Open, transcript.NewMarkdown)
	b := transcript.Block{Header: []string{""}, RenderLine: func(line string) string { return "   " + s.styles.RenderLine(line) }}
	if s.head != "" {
		b.Header = append(b.Header, " "+s.styles.Agent.Render(ui.Fit(transcript.Clean(s.head), width-1)))
	}
	b.Body, b.Bytes = text.Lines(width - ui.Indent)
	if len(b.Body) == 0 && !s.item.Open {
		b.Header = nil
	} else if folded && s.item.Task != "" {
		b = s.folded(b, width)
	}
	if s.cut != "" {
		b.Footer = []string{"   " + s.styles.Warning.Render(ui.Fit("⊘ "+s.cut, width-ui.Indent))}
	}
	return b
}

// folded is what a task says on a line, with its last one while it grows: the
// checklist of the plan tells the rest.
func (s *agentMessage) folded(b transcript.Block, width int) transcript.Block {
	n := len(b.Body)
	b.Header[1] = ui.Fit(" "+s.styles.Dim.Render("▸ ")+s.styles.Agent.Render(transcript.Clean(s.head))+s.styles.Dim.Render(" · "+ui.Count(n, "line")), width)
	if b.Body = b.Body[max(0, n-1):]; !s.item.Open {
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
	styles *ui.Styles
	item   *protocol.Item
	feed   textFeed[*transcript.Text]
	task   string // of a plan, by its title
	cut    string // why it did not come to its end
}

func (t *reasoning) cutOff(why string) { t.cut = why }

func (t *reasoning) Estimate(width int, folded bool) int {
	if folded {
		return 2
	}
	return 2 + lines(len(t.item.Text), width)
}

func (t *reasoning) Block(width int, folded bool) transcript.Block {
	text := t.feed.take(t.item.Text, t.item.Open, transcript.NewText)
	draw := func(line string) string { return "   " + t.styles.Dim.Render(line) }
	word := "thought"
	if t.item.Open {
		word = "thinking"
	}
	if t.task != "" {
		word = ui.OneLine(transcript.Clean(t.task)) + " · " + word
	}
	if t.cut != "" {
		word += " · " + t.cut
	}
	if !folded {
		body, bytes := text.Lines(width - ui.Indent)
		return transcript.Block{Header: []string{"", t.styles.Dim.Render(" ▾ " + word)}, Body: body, Bytes: bytes, RenderLine: draw}
	}
	last, hidden := text.Tail(width-ui.Indent, 1)
	b := transcript.Block{Header: []string{"", t.styles.Dim.Render(" ▸ " + word + " · " + ui.Count(hidden+len(last), "line"))}, RenderLine: draw}
	if t.item.Open {
		b.Body = last
	}
	return b
}
