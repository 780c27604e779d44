package transcriptview

import (
	"bytes"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/highlight"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

const (
	maxWholeOutput = 256 << 10 // bytes; of a longer output only the ends are laid out
	outputEndBytes = 64 << 10  // bytes of an end
)

// outputText is the text of an output. transcript.Text describes its methods.
type outputText interface {
	Lines(width int) (lines []string, bytes int)
	Head(width, n int) []string
	Tail(width, n int) (lines []string, hidden int)
}

// output is the layout of a tool call's output, or of a part of it if complete is false.
type output struct {
	text        outputText
	complete    bool
	linesBefore int // lines of the output before text
	linesAfter  int
	start       []byte // start of the output, if complete is false
}

// head returns a layout of the first lines.
func (o *output) head() outputText {
	if o.complete {
		return o.text
	}
	return ui.AsTerminalOutput(string(o.start))
}

// output returns the output followed by the structured content that is not a diff.
func (t *toolCall) output() output {
	tool, data := t.item.Tool, t.item.Text
	switch {
	case t.isLong():
		from, to := t.revealed.bounds(data)
		shown := string(data[from:to])
		if to == len(data) {
			shown += "\n" + describe.TextContent(tool.Content)
		}
		newline := []byte{'\n'}
		return output{
			text: ui.AsTerminalOutput(shown), start: data[:outputEndBytes],
			linesBefore: bytes.Count(data[:from], newline), linesAfter: bytes.Count(data[to:], newline),
		}
	case t.fileChanges() != nil && t.cache.outputIsPatch:
		return output{text: transcript.NewPreformatted(), complete: true} // shown as changes
	}
	if l := t.language(); l != nil {
		return output{text: transcript.NewCode(l, string(data)), complete: true}
	}
	if mixed, ok := newMixedOutput(string(data), describe.ContentTexts(tool.Content)); ok {
		return output{text: mixed, complete: true}
	}
	text := t.feed.update(data, t.item.Open, transcript.NewTerminalOutput)
	content := describe.TextContent(tool.Content)
	if end := tool.End; end != nil && len(data) == 0 && len(tool.Content) == 0 {
		content = describe.JSON(end.Output)
	}
	if content == "" {
		return output{text: text, complete: true}
	}
	return output{text: ui.AsTerminalOutput(string(data) + content), complete: true}
}

// language returns the language of the file that the call read, or nil. Structured content may hold
// more than the file.
func (t *toolCall) language() *highlight.Language {
	isText := func(c protocol.Content) bool { return c.Type != "diff" }
	if slices.ContainsFunc(t.item.Tool.Content, isText) {
		return nil
	}
	if t.item.Open || t.item.Tool.Kind != protocol.ToolRead || bytes.IndexByte(t.item.Text, 0x1b) >= 0 {
		return nil
	}
	for _, location := range t.item.Tool.Locations {
		if l := highlight.ByFilename(location.Path); l != nil {
			return l
		}
	}
	if l := highlight.ByFilename(describe.MainArgument(describe.ToolInput(t.item.Tool))); l != nil {
		return l
	}
	return highlight.ByFilename(strings.TrimSpace(t.item.Tool.Title))
}

// pagerItems returns the arguments, changes, output and error as pager items.
func (t *toolCall) pagerItems() []transcript.Item {
	var out []transcript.Item
	section := func(heading string, items []transcript.Item) {
		if len(items) == 0 {
			return
		}
		if len(out) > 0 {
			heading = "\n" + heading
		}
		out = append(out, ui.TextItem(heading, t.styles.Dim))
		out = append(out, items...)
	}
	section("arguments", pagerText(t.styles, t.arguments(), string(t.item.Tool.Input)))
	if c := t.fileChanges(); c != nil {
		section("changes", c.Items(t.styles))
	}
	section("nested in it", pagerText(t.styles, strings.TrimPrefix(t.nestedText(), "\n"), ""))
	text := string(t.item.Text) + describe.TextContent(t.item.Tool.Content)
	var raw string
	if end := t.item.Tool.End; end != nil && text == "" {
		text, raw = describe.JSON(end.Output), string(end.Output)
	}
	mixed, ok := newMixedOutput(string(t.item.Text), describe.ContentTexts(t.item.Tool.Content))
	switch l := t.language(); {
	case t.cache.outputIsPatch:
	case ok:
		section("output", []transcript.Item{&mixedItem{t.styles, mixed}})
	case l != nil:
		section("output", ui.TextItems(t.styles, text, ui.AsCode(l)))
	default:
		section("output", pagerText(t.styles, text, raw))
	}
	if end := t.item.Tool.End; end != nil && end.Error != "" {
		section("error", ui.TextItems(t.styles, end.Error, ui.AsPreformatted))
	}
	return out
}

// pagerText returns text as pager items. It is indented and highlighted if it is JSON. raw is the
// JSON that text was rendered from, or empty.
func pagerText(styles *ui.Styles, text, raw string) []transcript.Item {
	if indented, ok := describe.IndentJSON(text); ok {
		return ui.TextItems(styles, indented, ui.AsCode(highlight.ByName("json")))
	}
	if indented, ok := describe.IndentJSON(raw); ok && !strings.Contains(raw, `\n`) {
		return ui.TextItems(styles, indented, ui.AsCode(highlight.ByName("json")))
	}
	return ui.TextItems(styles, text, ui.AsTerminalOutput)
}
