package transcriptview

import (
	"fmt"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// title returns the styled title: the parent mark, the task, the tool and its main argument.
func (t *toolCall) title() string {
	glyph := t.styles.Dim.Render("•")
	if t.item.Parent != "" {
		glyph = t.styles.Dim.Render("  ↳")
	}
	if t.task != "" {
		glyph += " " + t.styles.Dim.Render(ui.OneLine(transcript.Clean(t.task))+" ›")
	}
	title := t.describe()
	s := t.styles.Bold.Render(title.Title)
	if title.Name != "" {
		s = t.styles.Dim.Render(title.Name) + " " + s
	}
	if title.Argument != "" {
		s += " " + t.styles.Dim.Render(title.Argument)
	}
	return glyph + " " + s
}

// describe returns the title by what is known of the call.
func (t *toolCall) describe() describe.ToolTitle {
	tool := t.item.Tool
	key := titleKey{name: tool.Name, title: tool.Title, kind: tool.Kind, textLen: len(tool.InputText)}
	if len(tool.Input) > 0 {
		key.input = &tool.Input[0]
	}
	if t.titleFor != key {
		t.titleFor, t.cachedTitle = key, describe.NewToolTitle(tool)
	}
	return t.cachedTitle
}

// plainTitle returns the title as one line without styles.
func (t *toolCall) plainTitle() string { return t.describe().String() }

// status returns the styled status, exit code and duration.
func (t *toolCall) status() string {
	end := t.item.Tool.End
	switch {
	case end == nil && t.interrupted != "":
		return t.styles.Warning.Render(t.interrupted)
	case end == nil && t.item.Open:
		s := "running"
		if ran := t.styles.Since(t.item.Started); ran >= time.Second {
			s += " " + ui.Duration(ran)
		}
		return t.styles.Warning.Render(s)
	case end == nil:
		return t.styles.Dim.Render("unfinished")
	}
	s := ui.OneLine(transcript.Clean(string(end.Status)))
	style := t.styles.Dim
	switch end.Status {
	case protocol.ToolCompleted:
		s, style = "✓", t.styles.Success
	case protocol.ToolFailed:
		s, style = "✗ failed", t.styles.Error
	case protocol.ToolUnknown:
		s, style = "? unknown", t.styles.Warning
	}
	separator := " "
	if end.ExitCode != nil && *end.ExitCode != 0 {
		s += fmt.Sprintf(" · exit %d", *end.ExitCode)
		separator = keymap.Separator
	}
	if end.DurationMS > 0 {
		s += separator + ui.Duration(ui.Millis(end.DurationMS))
	}
	return style.Render(s)
}

// arguments returns the input as text, one line per field.
func (t *toolCall) arguments() string {
	tool := t.item.Tool
	if input := describe.ToolInput(tool); len(input) > 0 {
		return describe.JSON(input)
	}
	return string(tool.InputText)
}

// outputText returns the whole output as text without control sequences.
func (t *toolCall) outputText() string {
	text := transcript.NewTerminalOutput()
	text.Append(string(t.item.Text))
	for i := range t.item.Tool.Content {
		text.Append(describe.Content(&t.item.Tool.Content[i]))
	}
	if end := t.item.Tool.End; end != nil && len(t.item.Text) == 0 && len(t.item.Tool.Content) == 0 {
		text.Append(describe.JSON(end.Output))
	}
	return text.String()
}

// text returns the title, arguments, output and error, to search.
func (t *toolCall) text() string {
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
			write(describe.Content(c))
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
			write(describe.JSON(end.Output))
		}
		write(end.Error)
	}
	return out.String()
}
