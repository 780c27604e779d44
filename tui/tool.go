package tui

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/tui/patch"
	"agentctl/tui/transcript"
)

// How much of a tool call shows in the transcript; the rest is for the pager.
const (
	headLines    = 2  // the first ones of a folded output
	tailLines    = 5  // the last ones
	changeLines  = 14 // of a folded change
	changesLines = 400
	argsLines    = 100
	outputLines  = 1000
)

// toolCall is a tool call: what is called with what, how it stands, what it
// changes and its output, of which a folded one shows both ends.
type toolCall struct {
	landmark
	look *look
	item *protocol.Item
	feed feed[*transcript.Text]
	cut  string // why it did not come to its end

	changes *changes // of what the call had when they were made
	of      made
	inText  bool // the output is the patch
}

// made is what changes are made of.
type made struct {
	content  *protocol.Content
	input    *byte
	contents int
	text     int
}

func (t *toolCall) cutOff(why string) { t.cut = why }

func (t *toolCall) Estimate(width int, folded bool) int {
	if folded {
		return min(3+headLines+tailLines, 2+lines(len(t.item.Text), width))
	}
	return 3 + min(outputLines, lines(len(t.item.Text)+len(t.item.Tool.Input)+len(t.item.Tool.InputText), width))
}

func (t *toolCall) Block(width int, folded bool) transcript.Block {
	b := transcript.Block{
		Head: []string{"", spread(" "+t.title(), t.status(), width)},
		Draw: func(line string) string { return "   " + t.look.dress(line) },
	}
	room := max(1, width-indent)
	if !folded {
		b.Head = append(b.Head, t.given(room)...)
	}
	if c := t.changed(); c != nil {
		most := changesLines
		if folded {
			most = changeLines
		}
		shown, more := c.Lines(room, most, t.look.split(width))
		b.Body = append(b.Body, shown...)
		b.Body = t.more(b.Body, more, room, folded)
	}
	out := t.output()
	if folded {
		b.Body = t.ends(b.Body, out, room)
	} else {
		shown, bytes := out.text.Lines(room)
		hidden := max(0, len(shown)-outputLines)
		if hidden+out.before > 0 {
			b.Body = append(b.Body, t.dim("… "+count(hidden+out.before, "line")+" above · "+t.look.keys.hint(doView, "views all"), room))
		}
		if len(b.Body) == 0 {
			b.Body, b.Bytes = shown, bytes
		} else {
			b.Body = append(b.Body, shown[hidden:]...)
		}
	}
	return t.failed(b, width)
}

// ends are the first and the last lines of the output. While it grows and when
// it failed, what matters is at the end.
func (t *toolCall) ends(to []string, out output, room int) []string {
	first, last := headLines, tailLines-headLines
	if t.item.Open || t.item.Tool.End != nil && t.item.Tool.End.Status == protocol.ToolFailed {
		first, last = 0, tailLines
	}
	tail, hidden := out.text.Tail(room, last)
	if hidden += out.before; hidden <= first+1 && out.whole {
		all, _ := out.text.Tail(room, first+last+1)
		return append(to, all...)
	}
	to = append(to, out.head().Head(room, first)...)
	to = t.more(to, hidden-first, room, true)
	return append(to, tail...)
}

// more says how many lines are not shown, and how to see them.
func (t *toolCall) more(to []string, n, room int, folded bool) []string {
	if n <= 0 {
		return to
	}
	how := t.look.keys.hint(doView, "views all")
	if folded {
		how = t.look.keys.hint(doFoldLast, "shows all")
	}
	return append(to, t.dim("… "+count(n, "more line")+" · "+how, room))
}

func (t *toolCall) dim(text string, room int) string {
	r := &transcript.Run{}
	r.Add(fit(text, room), transcript.Faint)
	return r.Lines(room)[0]
}

// given is the arguments, unless they show as what they change.
func (t *toolCall) given(room int) []string {
	if t.changed() != nil && !hasDiff(t.item.Tool.Content) {
		return nil
	}
	input := transcript.NewOutput()
	input.Append(t.arguments())
	args, _ := input.Lines(max(1, room-2))
	hidden := max(0, len(args)-argsLines)
	var out []string
	for _, line := range args[:len(args)-hidden] {
		out = append(out, "   "+t.look.dim.Render("» "+line))
	}
	if hidden > 0 {
		out = append(out, "   "+t.look.dim.Render(fit("… "+count(hidden, "more line"), room)))
	}
	return out
}

func (t *toolCall) failed(b transcript.Block, width int) transcript.Block {
	if end := t.item.Tool.End; end != nil && end.Error != "" {
		b.Foot = append(b.Foot, "   "+t.look.bad.Render(fit(oneLine(transcript.Clean(end.Error)), width-indent)))
	}
	return b
}

// changed is what the call changes in files, or nil: what it told, else what its
// arguments say.
func (t *toolCall) changed() *changes {
	tool := t.item.Tool
	of := made{contents: len(tool.Content)}
	if len(tool.Content) > 0 {
		of.content = &tool.Content[0]
	}
	if len(tool.Input) > 0 {
		of.input = &tool.Input[0]
	}
	if !t.item.Open {
		of.text = len(t.item.Text)
	}
	if of == t.of {
		return t.changes
	}
	t.of, t.changes, t.inText = of, nil, false
	files := comparisons(tool.Content, transcript.Clean)
	if len(files) == 0 {
		files = intended(tool.Kind, tool.Input, transcript.Clean)
	}
	if begin := t.item.Text[:min(of.text, 4096)]; len(files) == 0 && bytes.Contains(begin, []byte("\n@@ -")) {
		files, t.inText = patch.Parse(transcript.Clean(string(t.item.Text)))
		if !t.inText {
			files = nil
		}
	}
	if len(files) > 0 {
		t.changes = newChanges(files)
	}
	return t.changes
}

func (t *toolCall) title() string {
	glyph := t.look.dim.Render("•")
	if t.item.Parent != "" {
		glyph = t.look.dim.Render("  ↳")
	}
	tool := t.item.Tool
	if name := tool.Name; name != "" && tool.Title != "" && name != tool.Title {
		s := glyph + " " + t.look.dim.Render(oneLine(transcript.Clean(name))) + " " + t.look.bold.Render(oneLine(transcript.Clean(tool.Title)))
		if about := t.about(); about != "" && !strings.Contains(tool.Title, about) {
			s += " " + t.look.dim.Render(oneLine(transcript.Clean(about)))
		}
		return s
	}
	return glyph + " " + t.look.bold.Render(t.plainTitle())
}

// about is the one argument that tells most of a call.
func (t *toolCall) about() string {
	given := map[string]string{}
	eachField(t.item.Tool.Input, func(key, value string) bool {
		given[key] = value
		return true
	})
	for _, name := range append([]string{"command", "cmd", "pattern", "query", "url"}, pathFields...) {
		if s := given[name]; s != "" {
			return s
		}
	}
	return ""
}

func (t *toolCall) plainTitle() string {
	tool := t.item.Tool
	title := tool.Title
	if title == "" {
		title = strings.TrimSpace(tool.Name + " " + cmp.Or(t.about(), t.arguments()))
	}
	if title == "" {
		title = "tool " + tool.Kind
	}
	return oneLine(transcript.Clean(title))
}

func (t *toolCall) status() string {
	end := t.item.Tool.End
	switch {
	case end == nil && t.item.Open:
		s := "running"
		if ran := t.look.since(t.item.Started); ran >= time.Second {
			s += " " + took(ran)
		}
		return t.look.warn.Render(s)
	case end == nil && t.cut != "":
		return t.look.warn.Render(t.cut)
	case end == nil:
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
		s += " " + took(ms(end.DurationMS))
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

// printed is the output as it shows, all of it.
func (t *toolCall) printed() string {
	text := transcript.NewConsole()
	text.Append(string(t.item.Text))
	for i := range t.item.Tool.Content {
		text.Append(contentText(&t.item.Tool.Content[i]))
	}
	if end := t.item.Tool.End; end != nil && len(t.item.Text) == 0 && len(t.item.Tool.Content) == 0 {
		text.Append(readable(end.Output))
	}
	return text.String()
}

// said is all of the call, for a search.
func (t *toolCall) said() string {
	var out strings.Builder
	write := func(s string) {
		if s != "" {
			out.WriteString(s + "\n")
		}
	}
	write(t.plainTitle())
	write(t.arguments())
	write(string(t.item.Text))
	for i := range t.item.Tool.Content {
		switch c := &t.item.Tool.Content[i]; {
		case c.Type != "diff":
			write(contentText(c))
		case c.Old != nil:
			write(c.Path)
			write(*c.Old)
			write(c.New)
		default:
			write(c.Path)
			write(c.New)
		}
	}
	if end := t.item.Tool.End; end != nil {
		if len(t.item.Text) == 0 && len(t.item.Tool.Content) == 0 {
			write(readable(end.Output))
		}
		write(end.Error)
	}
	return out.String()
}

// since is how long ago that was, in whole seconds; clocks may differ.
func (l *look) since(at time.Time) time.Duration {
	return max(0, l.now().Sub(at)).Truncate(time.Second)
}
