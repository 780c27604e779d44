package tui

import (
	"bytes"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/highlight"
	"agentctl/tui/transcript"
)

const (
	outputMax = 256 << 10 // laid out as a whole; of more only the ends are
	outputEnd = 64 << 10  // of an end
)

// output is what a tool call said, or the end of it.
type output struct {
	text   *transcript.Text
	whole  bool
	before int    // lines before the text
	begin  []byte // of an output that is not whole
}

// head is a text with the first lines.
func (o *output) head() *transcript.Text {
	if o.whole {
		return o.text
	}
	t := transcript.NewTerminalOutput()
	t.Append(string(o.begin))
	return t
}

// output is the text output, followed by structured content that is no change.
func (t *toolCall) output() output {
	tool, said := t.item.Tool, t.item.Text
	switch {
	case len(said) > outputMax && !t.item.Open:
		from := len(said) - outputEnd
		if at := bytes.IndexByte(said[from:], '\n'); at >= 0 {
			from += at + 1
		}
		text := transcript.NewTerminalOutput()
		text.Append(string(said[from:]) + "\n" + others(tool.Content))
		return output{text: text, before: bytes.Count(said[:from], []byte{'\n'}), begin: said[:outputEnd]}
	case t.changed() != nil && t.inText:
		return output{text: transcript.NewPreformatted(), whole: true} // it is the change
	}
	if l := t.language(); l != nil {
		return output{text: transcript.NewCode(l, string(said)), whole: true}
	}
	text := t.feed.take(said, t.item.Open, transcript.NewTerminalOutput)
	rest := others(tool.Content)
	if end := tool.End; end != nil && len(said) == 0 && len(tool.Content) == 0 {
		rest = readable(end.Output)
	}
	if rest == "" {
		return output{text: text, whole: true}
	}
	all := transcript.NewTerminalOutput()
	all.Append(string(said) + rest)
	return output{text: all, whole: true}
}

// language is that of a file which the call has read, or nil.
func (t *toolCall) language() *highlight.Language {
	if t.item.Open || t.item.Tool.Kind != protocol.ToolRead || bytes.IndexByte(t.item.Text, 0x1b) >= 0 {
		return nil
	}
	for _, at := range t.item.Tool.Locations {
		if l := highlight.ByFilename(at.Path); l != nil {
			return l
		}
	}
	if l := highlight.ByFilename(t.about()); l != nil {
		return l
	}
	return highlight.ByFilename(strings.TrimSpace(t.item.Tool.Title))
}

// sheetBytes is about how much text is one item of a pager.
const sheetBytes = 16 << 10

// sheet is a part of a long text as an item of a pager: laid out when it is on
// the screen.
type sheet struct {
	look  *look
	raw   string // as it came
	lines int
	read  func(raw string) *transcript.Text
}

func (s *sheet) Estimate(width int, _ bool) int {
	return max(s.lines, len(s.raw)/max(width, 80)) // the width may not be known yet
}

func (s *sheet) Block(width int, _ bool) transcript.Block {
	body, bytes := s.read(s.raw).Lines(width)
	for range len(s.raw) - len(strings.TrimRight(s.raw, "\n")) - 1 {
		body = append(body, "") // what a text leaves out at its end
	}
	return transcript.Block{Body: body, Bytes: bytes, RenderLine: s.look.dress}
}

// sheets cuts a text at the ends of lines.
func sheets(l *look, text string, read func(raw string) *transcript.Text) []transcript.Item {
	var out []transcript.Item
	for text != "" {
		n := len(text)
		if n > sheetBytes {
			n = sheetBytes
			if at := strings.LastIndexByte(text[:n], '\n'); at >= 0 {
				n = at + 1
			}
			for n < len(text) && text[n]&0xc0 == 0x80 {
				n++
			}
		}
		raw := text[:n]
		out = append(out, &sheet{l, raw, strings.Count(raw, "\n"), read})
		text = text[n:]
	}
	return out
}

// asConsole, asOutput and asCode are ways to read a sheet.
func asConsole(raw string) *transcript.Text {
	t := transcript.NewTerminalOutput()
	t.Append(raw)
	return t
}

func asOutput(raw string) *transcript.Text {
	t := transcript.NewPreformatted()
	t.Append(raw)
	return t
}

func asCode(l *highlight.Language) func(string) *transcript.Text {
	return func(raw string) *transcript.Text { return transcript.NewCode(l, raw) }
}

// all is everything of the call, as items of a pager.
func (t *toolCall) all() []transcript.Item {
	var out []transcript.Item
	part := func(heading string, of []transcript.Item) {
		if len(of) == 0 {
			return
		}
		if len(out) > 0 {
			heading = "\n" + heading
		}
		text := transcript.NewText()
		text.Append(heading)
		out = append(out, leaf{t.look, text, t.look.dim.Render})
		out = append(out, of...)
	}
	part("arguments", t.look.document(t.arguments(), string(t.item.Tool.Input)))
	if c := t.changed(); c != nil {
		part("changes", c.sources(t.look))
	}
	text := string(t.item.Text) + others(t.item.Tool.Content)
	var whole string
	if end := t.item.Tool.End; end != nil && text == "" {
		text, whole = readable(end.Output), string(end.Output)
	}
	switch l := t.language(); {
	case t.inText:
	case l != nil:
		part("output", sheets(t.look, text, asCode(l)))
	default:
		part("output", t.look.document(text, whole))
	}
	if end := t.item.Tool.End; end != nil && end.Error != "" {
		part("error", sheets(t.look, end.Error, asOutput))
	}
	return out
}

// document is a text as items of a pager. Where it is JSON, or raw is what it was
// made of, that is indented and in colours.
func (l *look) document(text, raw string) []transcript.Item {
	if nice, ok := pretty(text); ok {
		return sheets(l, nice, asCode(highlight.ByName("json")))
	}
	if nice, ok := pretty(raw); ok && !strings.Contains(raw, `\n`) {
		return sheets(l, nice, asCode(highlight.ByName("json")))
	}
	return sheets(l, text, asConsole)
}
