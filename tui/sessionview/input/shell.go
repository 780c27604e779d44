package input

import (
	"agentctl/tui/composer"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/sessionview/shellview"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// shellDirectoryWidth is the maximum width of the directory in the title of the composer, so that
// the keys fit a terminal of 80 columns.
const shellDirectoryWidth = 28

// runShell runs the shell command in the composer in a directory and shows its output. Without a
// directory it runs in the process's own.
func runShell(config shellview.Config, c *composer.Composer, dir string) panel.Result {
	command := c.Value()
	if command == "" {
		return panel.Result{}
	}
	c.EndShell()
	page, cmd := shellview.Run(config, command, dir)
	return panel.Result{Push: page, Cmd: cmd}
}

// shellTitle returns the title of the composer while a shell command is written.
func shellTitle(s *ui.Styles, dir string) string {
	where := "current directory"
	if dir != "" {
		where = ui.FitLeft(transcript.CleanLine(dir), shellDirectoryWidth)
	}
	hint := ui.Prefixed(keymap.Separator, s.Keys.Hint(keymap.Send, "runs", keymap.Cancel, "back"))
	return s.Warning.Render("shell on this machine") + s.Dim.Render(" · "+where+hint)
}
