package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// tailLines is how much of a folded tool's output shows.
const tailLines = 5

// toolCall is a tool call: what is called with what, how it stands, and its
// output, of which a folded one shows the end.
type toolCall struct {
	landmark
	look *look
	item *protocol.Item
	feed feed[*transcript.Text]
}

func (t *toolCall) Estimate(width int, folded bool) int {
	if folded {
		return min(3+tailLines, 2+lines(len(t.item.Text), width))
	}
	return 3 + lines(len(t.item.Text)+len(t.item.Tool.Input)+len(t.item.Tool.InputText), width)
}

func (t *toolCall) Block(width int, folded bool) transcript.Block {
	output := t.output()
	b := transcript.Block{
		Head: []string{"", spread(" "+t.title(), t.status(), width)},
		Draw: func(line string) string { return "   " + t.dress(line) },
	}
	if folded {
		var hidden int
		if b.Body, hidden = output.Tail(width-indent, tailLines); hidden > 0 {
			b.Head = append(b.Head, t.look.dim.Render(fit("   … "+count(hidden, "line")+" above · ctrl+o shows all", width)))
		}
	} else {
		input := transcript.NewOutput()
		input.Append(t.arguments())
		args, _ := input.Lines(width - indent - 2)
		for _, line := range args {
			b.Head = append(b.Head, "   "+t.look.dim.Render("» "+line))
		}
		b.Body, b.Bytes = output.Lines(width - indent)
	}
	if end := t.item.Tool.End; end != nil && end.Error != "" {
		b.Foot = append(b.Foot, "   "+t.look.bad.Render(fit(oneLine(transcript.Clean(end.Error)), width-indent)))
	}
	return b
}

// Full is everything of the call as one text, for a screen of its own.
func (t *toolCall) Full() (title string, text *transcript.Text) {
	text = transcript.NewOutput()
	if args := t.arguments(); args != "" {
		text.Append(args + "\n\n")
	}
	text.Append(t.output().String())
	if end := t.item.Tool.End; end != nil && end.Error != "" {
		text.Append("\n" + end.Error)
	}
	return t.plainTitle(), text
}

func (t *toolCall) title() string {
	glyph := t.look.dim.Render("•")
	if t.item.Parent != "" {
		glyph = t.look.dim.Render("  ↳")
	}
	if name := t.item.Tool.Name; name != "" && t.item.Tool.Title != "" && name != t.item.Tool.Title {
		return glyph + " " + t.look.dim.Render(oneLine(transcript.Clean(name))) + " " + t.look.bold.Render(oneLine(transcript.Clean(t.item.Tool.Title)))
	}
	return glyph + " " + t.look.bold.Render(t.plainTitle())
}

func (t *toolCall) plainTitle() string {
	tool := t.item.Tool
	title := tool.Title
	if title == "" {
		title = tool.Name
		if args := t.arguments(); args != "" {
			title += " " + args
		}
	}
	if title == "" {
		title = "tool " + tool.Kind
	}
	return oneLine(transcript.Clean(title))
}

func (t *toolCall) status() string {
	end := t.item.Tool.End
	if end == nil {
		if t.item.Open {
			return t.look.warn.Render("running")
		}
		return t.look.dim.Render("unfinished")
	}
	s := oneLine(transcript.Clean(string(end.Status)))
	style := t.look.dim
	switch end.Status {
	case protocol.ToolCompleted:
		s, style = "✓", t.look.good
	case protocol.ToolFailed:
		s, style = "✗ failed", t.look.bad
	case protocol.ToolUnknown:
		s, style = "? unknown", t.look.warn
	}
	if end.ExitCode != nil && *end.ExitCode != 0 {
		s += fmt.Sprintf(" exit %d", *end.ExitCode)
	}
	if end.DurationMS > 0 {
		s += " " + took(time.Duration(end.DurationMS)*time.Millisecond)
	}
	return style.Render(s)
}

// arguments is the call's input for reading: one line per field.
func (t *toolCall) arguments() string {
	tool := t.item.Tool
	if len(tool.Input) == 0 {
		return string(tool.InputText)
	}
	return readable(tool.Input)
}

// output is the text output, followed by structured content.
func (t *toolCall) output() *transcript.Text {
	text := t.feed.take(t.item.Text, t.item.Open, transcript.NewOutput)
	content := t.item.Tool.Content
	var result string
	if end := t.item.Tool.End; end != nil && len(t.item.Text) == 0 && len(content) == 0 {
		result = readable(end.Output)
	}
	if len(content) == 0 && result == "" {
		return text
	}
	all := transcript.NewOutput()
	all.Append(text.String())
	for i := range content {
		all.Append(contentText(&content[i]))
	}
	all.Append(result)
	return all
}

// dress colours a diff's lines.
func (t *toolCall) dress(line string) string {
	if len(t.item.Tool.Content) > 0 {
		return t.look.diff(line)
	}
	return line
}

func contentText(c *protocol.Content) string {
	switch {
	case c.Type == "diff":
		old := ""
		if c.Old != nil {
			old = *c.Old
		}
		return c.Path + "\n" + diff(old, c.New)
	case c.Text != "":
		return c.Text + "\n"
	case c.Blob != "":
		return fmt.Sprintf("[%s %s, %d bytes]\n", c.Type, c.MediaType, c.Bytes)
	case len(c.Data) > 0:
		return readable(c.Data) + "\n"
	}
	return "[" + c.Type + " " + c.Path + "]\n"
}

// readable writes JSON for people: a string as its text, an object as one line
// per field, anything else as it is.
func readable(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		return string(raw)
	}
	var out []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return string(raw)
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return string(raw)
		}
		text := string(value)
		if json.Unmarshal(value, &s) == nil {
			text = s
		}
		if strings.Contains(text, "\n") {
			text = "\n" + text
		}
		out = append(out, fmt.Sprintf("%v: %s", key, text))
	}
	return strings.Join(out, "\n")
}
