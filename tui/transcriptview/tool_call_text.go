package transcriptview

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/filechange"
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
	tool := t.item.Tool
	if name := tool.Name; name != "" && tool.Title != "" && name != tool.Title {
		dimName := t.styles.Dim.Render(ui.OneLine(transcript.Clean(name)))
		s := glyph + " " + dimName + " " + t.styles.Bold.Render(ui.OneLine(transcript.Clean(tool.Title)))
		if argument := t.mainArgument(); len(argument) > 1 && !strings.Contains(tool.Title, argument) {
			s += " " + t.styles.Dim.Render(ui.OneLine(transcript.Clean(argument)))
		}
		return s
	}
	return glyph + " " + t.styles.Bold.Render(t.plainTitle())
}

// mainArgument returns the argument that identifies the call best: a command, pattern, query, URL
// or path.
func (t *toolCall) mainArgument() string {
	input := t.item.Tool.Input
	if len(input) == 0 || t.argumentInput == &input[0] {
		return t.cachedArgument
	}
	t.argumentInput, t.cachedArgument = &input[0], ""
	args := map[string]string{}
	describe.Fields(input, func(key, value string) bool {
		args[key] = value
		return true
	})
	for _, name := range append([]string{"command", "cmd", "pattern", "query", "url"}, filechange.PathFields...) {
		if s := args[name]; s != "" {
			t.cachedArgument = s
			break
		}
	}
	return t.cachedArgument
}

// plainTitle returns the title as one line without styles.
func (t *toolCall) plainTitle() string {
	tool := t.item.Tool
	title := tool.Title
	if title == "" {
		title = strings.TrimSpace(tool.Name + " " + cmp.Or(t.mainArgument(), t.arguments()))
	}
	if title == "" {
		title = "tool " + tool.Kind
	}
	return ui.OneLine(transcript.Clean(title))
}

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
	if len(tool.Input) == 0 {
		return string(tool.InputText)
	}
	return describe.JSON(tool.Input)
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
