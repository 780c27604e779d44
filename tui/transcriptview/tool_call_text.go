package transcriptview

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// toolState is the state of a tool call as the screen shows it.
type toolState struct {
	glyph string
	word  string // "" for a completed call
	style *ui.Style
}

// state returns the state of the call.
func (t *toolCall) state() toolState {
	s, end := t.styles, t.item.Tool.End
	switch {
	case end == nil && t.interrupted != "":
		return toolState{"⊘", t.interrupted, &s.Warning}
	case end == nil && !t.item.Open:
		return toolState{"?", "unfinished", &s.Dim}
	case end == nil && t.waiting:
		return toolState{"◌", "waiting for a decision", &s.Warning}
	case end == nil && t.unstarted():
		return toolState{"·", notStarted, &s.Dim}
	case end == nil:
		return toolState{"◐", "running", &s.Accent}
	}
	switch end.Status {
	case protocol.ToolCompleted:
		return toolState{"✓", "", &s.Success}
	case protocol.ToolFailed:
		return toolState{"✗", "failed", &s.Error}
	case protocol.ToolDenied:
		return toolState{"⊘", "denied", &s.Error}
	case protocol.ToolCancelled:
		return toolState{"⊘", "cancelled", &s.Warning}
	case protocol.ToolUnknown:
		return toolState{"?", "unknown", &s.Warning}
	}
	return toolState{"•", transcript.CleanLine(string(end.Status)), &s.Dim}
}

// notStarted is the state of a call that the model has made, or is still writing.
const notStarted = "not started"

// unstarted reports whether nothing is known of the call but the arguments that the model writes:
// the agent sends the title or the whole arguments once it turns to the call.
func (t *toolCall) unstarted() bool {
	tool := t.item.Tool
	return tool.Title == "" && tool.Input == nil && len(tool.InputText) > 0 && len(t.item.Text) == 0 &&
		len(tool.Content) == 0
}

// titleLine returns the title and the status.
func (t *toolCall) titleLine(width int) string {
	state := t.state()
	title, status := " "+t.title(state), t.joinCounts(t.status(state, width))
	return ui.Spread(title, status, width)
}

// title returns the styled title: the state, the task, the tool and its main argument. The title of
// a running call stands out, a denied one is struck.
func (t *toolCall) title(state toolState) string {
	s := t.styles
	head := state.style.Render(state.glyph)
	if t.item.Parent != "" { // also of a call that is not shown
		head = s.Dim.Render("↳ ") + head
	}
	if t.task != "" {
		head += " " + s.Dim.Render(transcript.CleanLine(t.task)+" ›")
	}
	titleStyle := s.Plain
	switch end := t.item.Tool.End; {
	case end == nil && t.item.Open:
		titleStyle = s.Bold
	case end != nil && end.Status == protocol.ToolDenied:
		titleStyle = ui.NewStyle(s.Plain.Strikethrough(true))
	}
	title := t.describe()
	text := titleStyle.Render(title.Title)
	if title.Name != "" {
		text = s.Dim.Render(title.Name) + " " + text
	}
	if title.Argument != "" {
		text += " " + title.Argument
	}
	return head + " " + text
}

// describe returns the title by what is known of the call.
func (t *toolCall) describe() describe.ToolTitle {
	tool := t.item.Tool
	key := titleKey{tool.Name, tool.Title, tool.Kind, first(tool.Input), len(tool.InputText)}
	if t.titleFor != key {
		t.titleFor, t.cachedTitle = key, describe.NewToolTitle(tool)
	}
	return t.cachedTitle
}

// plainTitle returns the title as one line without styles.
func (t *toolCall) plainTitle() string { return t.describe().String() }

// minSizeWidth is the minimum width at which a title has the size of the output.
const minSizeWidth = 60

// status returns the styled state, exit code, size of the output and duration.
func (t *toolCall) status(state toolState, width int) string {
	end := t.item.Tool.End
	var parts []string
	if state.word != "" {
		parts = append(parts, state.word)
	}
	if end == nil {
		timed := t.item.Open && t.interrupted == "" && state.word != notStarted
		if ran, _ := t.worked(t.styles.Now()); timed && ran >= time.Second {
			parts = append(parts, format.Duration(ran.Truncate(time.Second)))
		}
		return state.style.Render(strings.Join(parts, " "))
	}
	if end.ExitCode != nil && *end.ExitCode != 0 {
		parts = append(parts, fmt.Sprintf("exit %d", *end.ExitCode))
	}
	failure := len(parts)
	if rows := t.outputRows(); (rows > 1 || rows == 1 && t.item.Tool.Kind == protocol.ToolRead) && width >= minSizeWidth {
		parts = append(parts, format.Count(rows, "line"))
	}
	if end.DurationMS > 0 {
		took := format.Millis(end.DurationMS)
		if work, waited := t.worked(t.ended); waited > 0 {
			took = min(took, work) // the agent may count its waiting
		}
		parts = append(parts, format.Duration(took))
	}
	return t.joinStatus(state, parts[:failure], parts[failure:])
}

// worked returns how long the call has worked at a time, and how long it waited for decisions.
func (t *toolCall) worked(at time.Time) (work, waited time.Duration) {
	return t.waits.Split(protocol.TurnPart{Tool: t.item.ID, SubAgent: t.item.Tool.Session}, t.item.Started, at)
}

// joinCounts returns a status after the counts of the file that the title names, if it names one.
func (t *toolCall) joinCounts(status string) string {
	f := t.namedFile()
	if f == nil {
		return status
	}
	added, removed := f.Stat()
	counts := t.styles.Success.Render(fmt.Sprintf("+%d", added)) + " " +
		t.styles.Error.Render(fmt.Sprintf("−%d", removed))
	if f.Old == "" {
		counts = t.styles.Dim.Render("new ") + counts
	}
	if ansi.StringWidth(status) > 0 {
		counts += t.styles.Dim.Render(keymap.Separator)
	}
	return counts + status
}

// joinStatus joins the parts of a status that report a failure and the muted ones.
func (t *toolCall) joinStatus(state toolState, failure, muted []string) string {
	out := state.style.Render(strings.Join(failure, keymap.Separator))
	if len(failure) > 0 && len(muted) > 0 {
		out += t.styles.Dim.Render(keymap.Separator)
	}
	return out + t.styles.Dim.Render(strings.Join(muted, keymap.Separator))
}

// outputRows returns the number of lines of a finished output.
func (t *toolCall) outputRows() int {
	text := bytes.TrimRight(t.item.Text, "\n")
	if len(text) == 0 {
		return 0
	}
	return bytes.Count(text, []byte{'\n'}) + 1
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
func (t *toolCall) text() string { return t.arguments() + "\n" + t.results() }

// results returns the text without the arguments.
func (t *toolCall) results() string {
	var out strings.Builder
	write := func(s string) {
		if s != "" {
			out.WriteString(s + "\n")
		}
	}
	write(t.plainTitle())
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
	write(t.nestedText())
	return out.String()
}
