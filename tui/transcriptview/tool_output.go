package transcriptview

import (
	"bytes"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/filechange"
	"agentctl/tui/highlight"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

const (
	maxWholeOutput = 256 << 10 // laid out as a whole; of more only the ends are
	outputEndBytes = 64 << 10  // of an end
)

// output is what a tool call said, or the end of it.
type output struct {
	text        *transcript.Text
	complete    bool
	linesBefore int    // lines before the text
	start       []byte // of an output that is not whole
}

// head is a text with the first lines.
func (o *output) head() *transcript.Text {
	if o.complete {
		return o.text
	}
	t := transcript.NewTerminalOutput()
	t.Append(string(o.start))
	return t
}

// output is the text output, followed by structured content that is no change.
func (t *toolCall) output() output {
	tool, said := t.item.Tool, t.item.Text
	switch {
	case len(said) > maxWholeOutput && !t.item.Open:
		from := len(said) - outputEndBytes
		if at := bytes.IndexByte(said[from:], '\n'); at >= 0 {
			from += at + 1
		}
		text := transcript.NewTerminalOutput()
		text.Append(string(said[from:]) + "\n" + filechange.TextContent(tool.Content))
		return output{text: text, linesBefore: bytes.Count(said[:from], []byte{'\n'}), start: said[:outputEndBytes]}
	case t.fileChanges() != nil && t.outputIsPatch:
		return output{text: transcript.NewPreformatted(), complete: true} // it is the change
	}
	if l := t.language(); l != nil {
		return output{text: transcript.NewCode(l, string(said)), complete: true}
	}
	text := t.feed.update(said, t.item.Open, transcript.NewTerminalOutput)
	rest := filechange.TextContent(tool.Content)
	if end := tool.End; end != nil && len(said) == 0 && len(tool.Content) == 0 {
		rest = describe.JSON(end.Output)
	}
	if rest == "" {
		return output{text: text, complete: true}
	}
	all := transcript.NewTerminalOutput()
	all.Append(string(said) + rest)
	return output{text: all, complete: true}
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
	if l := highlight.ByFilename(t.mainArgument()); l != nil {
		return l
	}
	return highlight.ByFilename(strings.TrimSpace(t.item.Tool.Title))
}

// pagerItems is everything of the call, as items of a pager.
func (t *toolCall) pagerItems() []transcript.Item {
	var out []transcript.Item
	part := func(heading string, of []transcript.Item) {
		if len(of) == 0 {
			return
		}
		if len(out) > 0 {
			heading = "\n" + heading
		}
		out = append(out, ui.TextItem(heading, t.styles.Dim))
		out = append(out, of...)
	}
	part("arguments", pagerText(t.styles, t.arguments(), string(t.item.Tool.Input)))
	if c := t.fileChanges(); c != nil {
		part("changes", c.Items(t.styles))
	}
	text := string(t.item.Text) + filechange.TextContent(t.item.Tool.Content)
	var whole string
	if end := t.item.Tool.End; end != nil && text == "" {
		text, whole = describe.JSON(end.Output), string(end.Output)
	}
	switch l := t.language(); {
	case t.outputIsPatch:
	case l != nil:
		part("output", ui.TextItems(t.styles, text, ui.AsCode(l)))
	default:
		part("output", pagerText(t.styles, text, whole))
	}
	if end := t.item.Tool.End; end != nil && end.Error != "" {
		part("error", ui.TextItems(t.styles, end.Error, ui.AsPreformatted))
	}
	return out
}

// pagerText is a text as items of a pager. Where it is JSON, or raw is what it was
// made of, that is indented and in colours.
func pagerText(l *ui.Styles, text, raw string) []transcript.Item {
	if nice, ok := describe.IndentJSON(text); ok {
		return ui.TextItems(l, nice, ui.AsCode(highlight.ByName("json")))
	}
	if nice, ok := describe.IndentJSON(raw); ok && !strings.Contains(raw, `\n`) {
		return ui.TextItems(l, nice, ui.AsCode(highlight.ByName("json")))
	}
	return ui.TextItems(l, text, ui.AsTerminalOutput)
}
