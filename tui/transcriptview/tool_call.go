package transcriptview

import (
	"bytes"

	"agentctl/protocol"
	"agentctl/tui/diff"
	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// How much of a tool call shows in the transcript; the rest is for the pager.
const (
	headLines            = 2  // the first ones of a folded output
	TailLines            = 5  // the last ones
	collapsedChangeLines = 14 // of a folded change
	maxChangeLines       = 400
	maxArgumentLines     = 100
	maxOutputLines       = 1000
)

// toolCall is a tool call: what is called with what, how it stands, what it
// changes and its output, of which a folded one shows both ends.
type toolCall struct {
	itemAnchor
	styles      *ui.Styles
	item        *protocol.Item
	feed        textFeed[*transcript.Text]
	task        string // of a plan, by its title
	interrupted string // why it did not come to its end

	changes       *filechange.Changes // of what the call had when they were made
	cachedFor     changesKey
	outputIsPatch bool // the output is the patch

	argumentInput  *byte  // of the input that the argument is from
	cachedArgument string // the one that tells most
}

// changesKey is what changes are made of.
type changesKey struct {
	content    *protocol.Content
	input      *byte
	contentLen int
	textLen    int
}

// resetOutput forgets what was laid out of an output that is another one now.
func (t *toolCall) resetOutput() {
	t.feed, t.cachedFor, t.changes, t.outputIsPatch = textFeed[*transcript.Text]{}, changesKey{}, nil, false
}

// releaseCache lets go of what is not needed until the call is laid out again, once it
// is over: a list of many keeps their texts once.
func (t *toolCall) releaseCache() {
	if !t.item.Open {
		t.changes, t.cachedFor, t.outputIsPatch = nil, changesKey{}, false
	}
}

// AltAnchor implements transcript.Twofold: a call that failed is an error, too.
func (t *toolCall) AltAnchor() transcript.AnchorKind {
	if end := t.item.Tool.End; end != nil && end.Status == protocol.ToolFailed {
		return ErrorAnchor
	}
	return 0
}

func (t *toolCall) markInterrupted(why string) { t.interrupted = why }

func (t *toolCall) Estimate(width int, folded bool) int {
	if folded {
		return min(3+headLines+TailLines, 2+estimateLines(len(t.item.Text), width))
	}
	return 3 + min(maxOutputLines, estimateLines(len(t.item.Text)+len(t.item.Tool.Input)+len(t.item.Tool.InputText), width))
}

func (t *toolCall) Block(width int, folded bool) transcript.Block {
	defer t.releaseCache()
	b := transcript.Block{
		Header:     []string{"", ui.Spread(" "+t.title(), t.status(), width)},
		RenderLine: func(line string) string { return "   " + t.styles.RenderLine(line) },
	}
	room := max(1, width-ui.Indent)
	if !folded {
		b.Header = append(b.Header, t.argumentLines(room)...)
	}
	if c := t.fileChanges(); c != nil {
		most := maxChangeLines
		if folded {
			most = collapsedChangeLines
		}
		shown, more := c.Lines(room, most, t.styles.SideBySide(width))
		b.Body = append(b.Body, shown...)
		b.Body = t.appendMore(b.Body, more, room, folded)
	}
	out := t.output()
	if folded {
		b.Body = t.appendOutputEnds(b.Body, out, room)
	} else {
		shown, bytes := out.text.Lines(room)
		hidden := max(0, len(shown)-maxOutputLines)
		if hidden+out.linesBefore > 0 {
			b.Body = append(b.Body, t.dim("… "+ui.Count(hidden+out.linesBefore, "line")+" above · "+t.styles.Keys.Hint(keymap.ViewItem, "views all"), room))
		}
		if len(b.Body) == 0 {
			b.Body, b.Bytes = shown, bytes
		} else {
			b.Body = append(b.Body, shown[hidden:]...)
		}
	}
	return t.appendError(b, width)
}

// appendOutputEnds are the first and the last lines of the output. While it grows and when
// it failed, what matters is at the end.
func (t *toolCall) appendOutputEnds(to []string, out output, room int) []string {
	first, last := headLines, TailLines-headLines
	if t.item.Open || t.item.Tool.End != nil && t.item.Tool.End.Status == protocol.ToolFailed {
		first, last = 0, TailLines
	}
	tail, hidden := out.text.Tail(room, last)
	if hidden += out.linesBefore; hidden <= first+1 && out.complete {
		all, _ := out.text.Tail(room, first+last+1)
		return append(to, all...)
	}
	to = append(to, out.head().Head(room, first)...)
	to = t.appendMore(to, hidden-first, room, true)
	return append(to, tail...)
}

// appendMore says how many lines are not shown, and how to see them.
func (t *toolCall) appendMore(to []string, n, room int, folded bool) []string {
	if n <= 0 {
		return to
	}
	how := t.styles.Keys.Hint(keymap.ViewItem, "views all")
	if folded {
		how = t.styles.Keys.Hint(keymap.ToggleLast, "shows all")
	}
	return append(to, t.dim("… "+ui.Count(n, "more line")+" · "+how, room))
}

func (t *toolCall) dim(text string, room int) string {
	r := &transcript.StyledText{}
	r.Append(ui.Fit(text, room), transcript.Faint)
	return r.Lines(room)[0]
}

// argumentLines is the arguments, unless they show as what they change.
func (t *toolCall) argumentLines(room int) []string {
	if t.fileChanges() != nil && !filechange.HasDiff(t.item.Tool.Content) {
		return nil
	}
	input := transcript.NewPreformatted()
	input.Append(t.arguments())
	args, _ := input.Lines(max(1, room-2))
	hidden := max(0, len(args)-maxArgumentLines)
	var out []string
	for _, line := range args[:len(args)-hidden] {
		out = append(out, "   "+t.styles.Dim.Render("» "+line))
	}
	if hidden > 0 {
		out = append(out, "   "+t.styles.Dim.Render(ui.Fit("… "+ui.Count(hidden, "more line"), room)))
	}
	return out
}

func (t *toolCall) appendError(b transcript.Block, width int) transcript.Block {
	if end := t.item.Tool.End; end != nil && end.Error != "" {
		b.Footer = append(b.Footer, "   "+t.styles.Error.Render(ui.Fit(ui.OneLine(transcript.Clean(end.Error)), width-ui.Indent)))
	}
	return b
}

// fileChanges is what the call changes in files, or nil: what it told, else what its
// arguments say.
func (t *toolCall) fileChanges() *filechange.Changes {
	tool := t.item.Tool
	of := changesKey{contentLen: len(tool.Content)}
	if len(tool.Content) > 0 {
		of.content = &tool.Content[0]
	}
	if len(tool.Input) > 0 {
		of.input = &tool.Input[0]
	}
	if !t.item.Open {
		of.textLen = len(t.item.Text)
	}
	if of == t.cachedFor {
		return t.changes
	}
	t.cachedFor, t.changes, t.outputIsPatch = of, nil, false
	files := filechange.FromContent(tool.Content, transcript.Clean)
	if len(files) == 0 {
		files = filechange.FromArguments(tool.Kind, tool.Input, transcript.Clean)
	}
	if begin := t.item.Text[:min(of.textLen, 4096)]; len(files) == 0 && bytes.Contains(begin, []byte("\n@@ -")) {
		files, t.outputIsPatch = diff.Parse(transcript.Clean(string(t.item.Text)))
		if !t.outputIsPatch {
			files = nil
		}
	}
	if len(files) > 0 {
		t.changes = filechange.New(files)
	}
	return t.changes
}
