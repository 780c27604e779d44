package logview

import (
	"context"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/highlight"
	"agentctl/tui/keymap"
	"agentctl/tui/protolog"
	"agentctl/tui/task"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Source is a client with a protocol log. ProtocolLog returns the same log on each call, or nil.
type Source interface{ ProtocolLog() *protolog.Log }

// readInterval is the minimum time between two reads of the log.
const readInterval = 50 * time.Millisecond

// View is an overlay that lists the messages of a protocol log. A task reads the log while the
// overlay is open.
type View struct {
	styles    *ui.Styles
	tasks     *task.Runner
	clipboard ui.Clipboard
	log       *protolog.Log
	reader    *protolog.Reader // used only by the running task
	list      *protolog.List
	ctx       context.Context // canceled when the overlay is closed
	cancel    context.CancelFunc

	reading bool // a task is running
	paused  bool
	rows    int           // height of the list at the last View
	filter  *ui.TextInput // nil unless the filter is being edited
	status  ui.Status
}

// Messages that the tasks of a View send.
type (
	logBatchMsg struct {
		view  *View
		batch protolog.Batch
	}
	logSavedMsg struct {
		view   *View
		status string
	}
)

// Open returns a view of the protocol log of a client and the command that starts to read it. It
// returns nil, nil if the client has no log.
func Open(client any, s *ui.Styles, tasks *task.Runner, c ui.Clipboard) (*View, tea.Cmd) {
	source, ok := client.(Source)
	if !ok || source.ProtocolLog() == nil {
		return nil, nil
	}
	log := source.ProtocolLog()
	v := &View{
		styles: s, tasks: tasks, clipboard: c,
		log: log, reader: protolog.NewReader(log), list: protolog.NewList(),
	}
	v.ctx, v.cancel = context.WithCancel(tasks.Context())
	return v, v.startRead()
}

// Scope returns keymap.ProtocolLog.
func (v *View) Scope() keymap.Scope { return keymap.ProtocolLog }

// FullScreen returns true.
func (v *View) FullScreen() bool { return true }

// startRead starts a task that reads the next messages, unless one is running or the view is
// paused.
func (v *View) startRead() tea.Cmd {
	if v.reading || v.paused {
		return nil
	}
	v.reading = true
	delay := time.Duration(0)
	if _, all, _ := v.list.Counts(); all > 0 {
		delay = readInterval
	}
	return v.tasks.Run(func(context.Context) tea.Msg {
		select {
		case <-time.After(delay):
		case <-v.ctx.Done():
			return nil
		}
		batch, err := v.reader.Next(v.ctx)
		if err != nil {
			return nil // the overlay was closed
		}
		return logBatchMsg{v, batch}
	})
}

// Update handles input and the messages of the view's own tasks.
func (v *View) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case logBatchMsg:
		if msg.view == v {
			v.reading = false
			v.list.Append(msg.batch)
			return ui.Response{Cmd: v.startRead()}
		}
	case logSavedMsg:
		if msg.view == v {
			v.status.Text = msg.status
		}
	case tea.KeyPressMsg:
		v.status.Clear()
		if v.filter != nil {
			v.editFilter(msg)
			return ui.Response{}
		}
		return v.press(msg.String())
	case tea.PasteMsg:
		if v.filter != nil {
			v.editFilter(tea.KeyPressMsg{Text: ui.OneLine(transcript.Clean(msg.Content))})
		}
	case tea.MouseWheelMsg:
		v.list.MoveSelection(ui.WheelRows(msg))
	}
	return ui.Response{}
}

// Expire clears the status message after its timeout; see ui.Status.Expire.
func (v *View) Expire(now time.Time, after func(time.Duration, tea.Msg) tea.Cmd) (tea.Cmd, bool) {
	return v.status.Expire(now, after)
}

// press handles a key while the filter is not edited.
func (v *View) press(key string) ui.Response {
	f := v.list.Filter()
	switch v.styles.Keys.InList(keymap.ProtocolLog, key) {
	case keymap.LogClose, keymap.Back:
		if !f.IsZero() && key == "esc" {
			v.list.SetFilter(protolog.Filter{})
			return ui.Response{}
		}
		v.cancel()
		return ui.Response{Close: true}
	case keymap.Up:
		v.list.MoveSelection(-1)
	case keymap.Down:
		v.list.MoveSelection(1)
	case keymap.LogPageUp:
		v.list.MoveSelection(-max(1, v.rows-1))
	case keymap.LogPageDown:
		v.list.MoveSelection(max(1, v.rows-1))
	case keymap.First:
		v.list.SelectFirst()
	case keymap.Last:
		v.list.SelectLast()
	case keymap.Choose:
		return v.openMessage()
	case keymap.LogFilter:
		v.filter = v.styles.NewTextInput(f.Query)
	case keymap.LogDirection:
		f.Direction = f.Direction.Next()
		v.list.SetFilter(f)
	case keymap.LogType:
		v.toggleType(f)
	case keymap.LogPause:
		v.paused = !v.paused
		return ui.Response{Cmd: v.startRead()}
	case keymap.LogCopy:
		if m := v.list.Selected(); m != nil {
			v.status.Text = "copied"
			return ui.Response{Cmd: v.clipboard.Copy(transcript.Clean(string(m.Text)))}
		}
	case keymap.LogSave:
		return ui.Response{Cmd: v.save()}
	}
	return ui.Response{}
}

// toggleType sets the type filter to the type of the selected message, or clears it.
func (v *View) toggleType(f protolog.Filter) {
	switch m := v.list.Selected(); {
	case f.Type != "":
		f.Type = ""
	case m != nil && !m.Note:
		f.Type = m.Type()
	}
	v.list.SetFilter(f)
}

// editFilter handles a key while the filter is edited. Each key applies the filter.
func (v *View) editFilter(msg tea.KeyPressMsg) {
	f := v.list.Filter()
	switch key := msg.String(); {
	case key == "enter":
		v.filter = nil
		return
	case v.filter.LeaveInsert(key):
		return
	case key == "esc":
		v.filter, f.Query = nil, ""
	default:
		v.filter.Press(msg)
		f.Query = v.filter.Value()
	}
	v.list.SetFilter(f)
}

// openMessage opens the selected message in a pager.
func (v *View) openMessage() ui.Response {
	m := v.list.Selected()
	if m == nil {
		return ui.Response{}
	}
	title := fmt.Sprintf("frame %d · %s · %s", m.Frame, ui.OneLine(transcript.Clean(m.Label)), ui.Count(m.Size, "byte"))
	items := ui.TextItems(v.styles, m.Pretty(), ui.AsCode(highlight.ByName("json")))
	return ui.Response{Push: ui.NewPager(v.styles, title, items...)}
}

// save starts a task that writes the log to a new file in the working directory.
func (v *View) save() tea.Cmd {
	name := "agentctl-protocol-log-" + v.styles.Now().Format("20060102-150405") + ".jsonl"
	return v.tasks.Run(func(context.Context) tea.Msg {
		n, err := saveLog(v.log, name)
		if err != nil {
			return logSavedMsg{v, err.Error()}
		}
		return logSavedMsg{v, ui.Count(n, "frame") + " saved to " + name}
	})
}

// saveLog writes the log to a new file and returns the number of frames.
func saveLog(log *protolog.Log, name string) (n int, err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, fmt.Errorf("save the protocol log: %w", err)
	}
	defer func() {
		if closeErr := file.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("save the protocol log: %w", closeErr)
		}
	}()
	return log.WriteJSON(file)
}

// View returns height lines: a title, the messages, and the filter input, status message or keys.
func (v *View) View(width, height int) ([]string, *tea.Cursor) {
	s := v.styles
	v.rows = max(0, height-2)
	lines := append([]string{s.Rule(v.title(), width)}, v.list.Rows(width, v.rows, &protolog.Styles{
		Sent: s.User.Render, Received: s.Agent.Render, Note: s.Warning.Render, Error: s.Error.Render,
		Dim: s.Dim.Render, Selected: s.Selected.Render, Location: s.Zone,
	})...)
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	lines = lines[:min(len(lines), max(0, height-1))]
	if v.filter != nil {
		const label = " filter: "
		return append(lines, s.InputLine(label, v.filter, width)), ui.InputCursor(label, v.filter, height-1)
	}
	if v.status.Text != "" {
		return append(lines, s.Warning.Render(ui.Fit(" "+ui.OneLine(transcript.Clean(v.status.Text)), width))), nil
	}
	hint := s.Keys.Hint(keymap.Choose, "open", keymap.LogFilter, "filter", keymap.LogDirection, "direction",
		keymap.LogType, "type", keymap.LogPause, "pause", keymap.LogCopy, "copy", keymap.LogSave, "save")
	back := s.Keys.Hint(keymap.LogClose, "back")
	hint = ui.FitHints(hint, width-ansi.StringWidth(back)-2)
	return append(lines, s.Selected.Render(ui.Spread(" "+hint, back, width))), nil
}

// title returns the number and size of all messages, the filter and the reading state.
func (v *View) title() string {
	s := v.styles
	shown, all, bytes := v.list.Counts()
	out := s.Bold.Render("protocol log") + " · " + ui.Count(all, "message") + " · " + protolog.FormatSize(bytes)
	f := v.list.Filter()
	if !f.IsZero() {
		out += " · " + s.Warning.Render(fmt.Sprintf("%d shown: %s", shown, ui.OneLine(transcript.Clean(f.String()))))
	}
	switch {
	case v.paused:
		out += " · " + s.Warning.Render("paused")
	case v.list.Following():
		out += " · following"
	}
	return out
}
