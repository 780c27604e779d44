package screen

import (
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/internal/output"
	"agentctl/internal/userstate"
	"agentctl/tui"
	"agentctl/tui/notify"
	"agentctl/wsclient"
)

// Options returns the options of the TUI from the user's configuration.
func Options(cli *verb.Context) tui.Options {
	u := &cli.User
	dir := userstate.Find(cli.Env)
	state := config.LoadScreenState(dir)
	return tui.Options{
		Input: cli.Stdin, Output: cli.Out.Stdout, NoColor: cli.Flags.NoColor, Theme: u.Theme, Mouse: u.Mouse, Keys: u.Keys,
		Keep: u.Keep,
		Alerts: tui.Alerts{NoBell: u.NoBell(), NoNotify: u.NoNotify(), Only: notify.Only{
			States: u.NotifyStates, Labels: u.NotifyLabels,
		}},
		Parts: tui.Parts{
			NoImages: u.Images == "off",
			Side: tui.SideOptions{
				Hidden: &state.SideHidden,
				// A state that cannot be saved costs the user a key at the next start.
				OnChange: func(hidden bool) { _ = config.ScreenState{SideHidden: hidden}.Save(dir) },
			},
		},
	}
}

// HasTerminal reports whether stdin and stdout are a terminal with a screen. A dumb terminal, such as
// an editor's shell, has none.
func HasTerminal(cli *verb.Context) bool {
	return output.IsTerminal(cli.Stdin) && output.IsTerminal(cli.Out.Stdout) && cli.Env("TERM") != "dumb"
}

// LeaveError returns the error of a screen that was left. A screen stays open after its connection
// was refused: if the user leaves it then, the error is the refusal.
func LeaveError(c *connection.Conn, err error) error {
	if s := c.State(); err == nil && s.Phase == wsclient.PhaseOffline {
		return s.Err
	}
	return err
}
