package sessionview

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/shell"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// shellInterval is the time between two reads of the output of a shell command.
const shellInterval = 100 * time.Millisecond

// startsShell reports whether a key starts a shell command: the first ! in an empty composer. A
// pasted ! is text.
func (v *View) startsShell(msg tea.KeyPressMsg) bool {
	return msg.Text == "!" && !v.Composer.NoShell && v.composerEmpty() && !v.composer.Recalling()
}

// endShell turns the composer back to messages. The command stays in the history of commands.
func (v *View) endShell() {
	v.composer.KeepInHistory()
	v.composer.SetShell(false)
}

// runShell runs the shell command in the composer and shows its output. A session on this machine
// names the directory.
func (v *View) runShell() tea.Cmd {
	command := v.composer.Value()
	if command == "" {
		return nil
	}
	v.composer.KeepInHistory()
	v.composer.SetShell(false)
	output := &shellOutput{
		styles: v.Styles, after: v.After, command: command, text: transcript.NewTerminalOutput(), follow: true,
	}
	v.overlays.Push(output)
	dir := v.shellDirectory()
	return v.Tasks.Run(func(ctx context.Context) tea.Msg {
		if info, err := os.Stat(dir); dir == "" || err != nil || !info.IsDir() {
			dir, _ = os.Getwd() // "": the directory of the process
		}
		running, err := shell.Start(ctx, command, dir)
		return shellStartedMsg{output, running, dir, err}
	})
}

// shellDirectory returns the directory of the session if it is on this machine, or "".
func (v *View) shellDirectory() string {
	if cwd := v.replica.State.CWD; v.Local && filepath.IsAbs(cwd) {
		return cwd
	}
	return ""
}

// shellDirectoryWidth is the maximum width of the directory in the title of the composer, so that
// the keys fit a terminal of 80 columns.
const shellDirectoryWidth = 28

// shellTitle returns the title of the composer while a shell command is written.
func (v *View) shellTitle() string {
	where := "current directory"
	if dir := v.shellDirectory(); dir != "" {
		where = ui.FitLeft(format.JoinLines(transcript.Clean(dir)), shellDirectoryWidth)
	}
	s := v.Styles
	hint := ui.Prefixed(keymap.Separator, s.Keys.Hint(keymap.Send, "runs", keymap.Cancel, "back"))
	return s.Warning.Render("shell on this machine") + s.Dim.Render(" · "+where+hint)
}

// Messages of a shell command.
type (
	shellStartedMsg struct {
		output  *shellOutput
		command *shell.Command // nil if it failed
		dir     string
		err     error
	}
	shellReadMsg struct{ output *shellOutput }
)

// shellOutput is an overlay that shows the output of a shell command of the user. It stays until
// the user closes it or takes the output into the message.
type shellOutput struct {
	styles  *ui.Styles
	after   func(time.Duration, tea.Msg) tea.Cmd
	command string
	dir     string
	running *shell.Command // nil until it has started
	failed  string         // why it did not start
	stopped bool
	text    *transcript.Text
	top     int  // first line on the screen
	follow  bool // show the end
	rows    int  // of the last View
}

// takeOutputIntent inserts the output of a command into the message.
type takeOutputIntent struct{ text string }

// Scope implements [ui.Overlay].
func (o *shellOutput) Scope() keymap.Scope { return keymap.Pager }

// FullScreen implements [ui.Overlay].
func (o *shellOutput) FullScreen() bool { return true }

// ended reports whether the command has ended or did not start.
func (o *shellOutput) ended() bool { return o.failed != "" || o.running != nil && o.running.Ended() }

// Interrupt stops the command. It reports whether it ran.
func (o *shellOutput) Interrupt() bool {
	if o.ended() {
		return false
	}
	o.stopped = true
	if o.running != nil {
		o.running.Stop()
	}
	return true
}

// Update implements [ui.Overlay].
func (o *shellOutput) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case shellStartedMsg:
		if msg.output == o {
			return ui.Response{Cmd: o.start(msg)}
		}
	case shellReadMsg:
		if msg.output == o {
			return ui.Response{Cmd: o.read()}
		}
	case tea.MouseWheelMsg:
		o.scroll(ui.WheelRows(msg))
	case tea.KeyPressMsg:
		return o.press(msg.String())
	}
	return ui.Response{}
}

// start records the start of the command.
func (o *shellOutput) start(msg shellStartedMsg) tea.Cmd {
	o.running, o.dir = msg.command, msg.dir
	if msg.err != nil {
		o.failed = format.JoinLines(transcript.Clean(msg.err.Error()))
		return nil
	}
	if o.stopped {
		o.running.Stop()
	}
	return o.read()
}

// read appends new output, and returns a command that reads again later while the command runs.
func (o *shellOutput) read() tea.Cmd {
	ended := o.running.Ended() // before the read: the rest may arrive in between
	o.text.Append(o.running.Read())
	if ended {
		return nil
	}
	return o.after(shellInterval, shellReadMsg{o})
}

// press handles a key.
func (o *shellOutput) press(key string) ui.Response {
	if key == "enter" && o.ended() && o.failed == "" {
		return ui.Response{Close: true, Intent: takeOutputIntent{o.block()}}
	}
	page := max(1, o.rows-1)
	switch o.styles.Keys.InList(keymap.Pager, key) {
	case keymap.Back:
		return ui.Response{Close: o.ended()}
	case keymap.Up:
		o.scroll(-1)
	case keymap.Down:
		o.scroll(1)
	case keymap.PagerPageUp:
		o.scroll(-page)
	case keymap.PagerPageDown:
		o.scroll(page)
	case keymap.First:
		o.scroll(-o.top)
	case keymap.Last:
		o.follow = true
	}
	return ui.Response{}
}

// scroll scrolls by rows. At the end the view follows the output.
func (o *shellOutput) scroll(by int) { o.top, o.follow = max(0, o.top+by), false }

// View implements [ui.Overlay].
func (o *shellOutput) View(width, height int) ([]string, *tea.Cursor) {
	title := "! " + format.JoinLines(transcript.Clean(o.command))
	if o.dir != "" {
		title += o.styles.Dim.Render(" · in " + format.JoinLines(transcript.Clean(o.dir)))
	}
	out := []string{o.styles.Rule(ui.Fit(title, max(1, width-4)), width)}
	lines, _ := o.text.Lines(max(1, width-1))
	o.rows = max(0, height-2)
	last := max(0, len(lines)-o.rows)
	if o.top >= last {
		o.follow = true
	}
	if o.follow {
		o.top = last
	}
	for _, line := range lines[o.top:min(len(lines), o.top+o.rows)] {
		out = append(out, " "+transcript.StripStyles(line))
	}
	for len(out) < height-1 {
		out = append(out, "")
	}
	return append(out[:max(0, min(len(out), height-1))], o.footer(width)), nil
}

// footer returns the last line: the state of the command and the keys.
func (o *shellOutput) footer(width int) string {
	state, keys := "starting", "ctrl+c stops it"
	switch {
	case o.failed != "":
		state, keys = o.failed, "esc closes"
	case o.ended():
		state, keys = o.running.Result(), "enter puts it into the message · esc closes"
	case o.stopped:
		state, keys = "stopping", ""
	case o.running != nil:
		state = "running"
	}
	if o.running != nil && o.running.Dropped() > 0 {
		state += " · output cut after " + format.Size(shell.MaxOutput)
	}
	return o.styles.Selected.Render(ui.Spread(" "+state, keys+" ", width))
}

// block returns the command and its output as a fenced block.
func (o *shellOutput) block() string {
	text := strings.TrimRight(o.text.String(), "\n")
	fence := "```"
	for strings.Contains(text+o.command, fence) {
		fence += "`"
	}
	block := fence + "\n$ " + o.command + "\n"
	if text != "" {
		block += text + "\n"
	}
	if result := o.running.Result(); result != "exit 0" {
		block += fmt.Sprintf("[%s]\n", result)
	}
	if n := o.running.Dropped(); n > 0 {
		block += fmt.Sprintf("[%s of output left out]\n", format.Size(int64(n)))
	}
	return block + fence + "\n"
}
