package input

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/sessionview/shellview"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// startsShell reports whether a key starts a shell command: the first ! in an empty input. A pasted !
// is text.
func (in *Input) startsShell(msg tea.KeyPressMsg) bool {
	return msg.Text == "!" && !in.NoShell && in.empty() && !in.composer.Recalling()
}

// endShell turns the composer back to messages. The command stays in the history of commands.
func (in *Input) endShell() {
	in.composer.KeepInHistory()
	in.composer.SetShell(false)
}

// runShell runs the shell command in the composer and shows its output. A session on this machine
// names the directory.
func (in *Input) runShell() panel.Result {
	command := in.composer.Value()
	if command == "" {
		return panel.Result{}
	}
	in.endShell()
	config := shellview.Config{Styles: in.Styles, Tasks: in.Commands.Tasks, After: in.After}
	page, cmd := shellview.Run(config, command, in.directory())
	return panel.Result{Push: page, Cmd: cmd}
}

// shellDirectoryWidth is the maximum width of the directory in the title of the composer, so that
// the keys fit a terminal of 80 columns.
const shellDirectoryWidth = 28

// shellTitle returns the title of the composer while a shell command is written.
func (in *Input) shellTitle() string {
	where := "current directory"
	if dir := in.directory(); dir != "" {
		where = ui.FitLeft(format.JoinLines(transcript.Clean(dir)), shellDirectoryWidth)
	}
	s := in.Styles
	hint := ui.Prefixed(keymap.Separator, s.Keys.Hint(keymap.Send, "runs", keymap.Cancel, "back"))
	return s.Warning.Render("shell on this machine") + s.Dim.Render(" · "+where+hint)
}
