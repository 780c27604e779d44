package tui

import (
	"io"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"agentctl/tui/keymap"
	"agentctl/tui/notify"
	"agentctl/tui/ui"
)

// Options say how sessions are shown. The zero value shows them on the terminal of the process.
type Options struct {
	Input  io.Reader // keys; nil: standard input
	Output io.Writer // the screen; nil: standard output
	Env    []string  // of the terminal; nil: that of the process
	Size   Size      // of an output that is no terminal

	Theme   ui.Theme       // "": ThemeAuto
	NoColor bool           // no colours, whatever the theme
	Mouse   bool           // report the mouse: the wheel scrolls, a click expands
	Zone    *time.Location // of times; nil: local
	Keys    keymap.Keys    // other keys than the default; see keymap.Keys.Check
	Keep    int            // sessions that stay subscribed; 0: 3
	CWD     string         // of new sessions; "": the server's

	Alerts Alerts
}

// Size is the size of a screen in cells; zero: unknown.
type Size struct{ Width, Height int }

// Alerts say what happens while the terminal has no focus and a session needs the user.
type Alerts struct {
	Off      bool // neither ring nor notify
	NoBell   bool // do not ring
	NoNotify bool // show no desktop notification
}

// newNotifier returns the notifier for the terminal.
func (o *Options) newNotifier() *notify.Notifier {
	n := notify.DetectNotifications(o.environ())
	if o.Alerts.NoBell {
		n = n.WithoutBell()
	}
	if o.Alerts.NoNotify {
		n = n.BellOnly()
	}
	return notify.NewNotifier(n, o.Alerts.Off)
}

// newStyles returns the styles. The error names a key that cannot be used.
func (o *Options) newStyles() (*ui.Styles, error) {
	zone := o.Zone
	if zone == nil {
		zone = time.Local
	}
	keys, err := keymap.New(o.Keys)
	if err != nil {
		return nil, err
	}
	s := ui.NewStyles(zone, o.Theme)
	s.Keys = keys
	return s, nil
}

// programOptions returns the options of the Bubble Tea program.
func (o *Options) programOptions() []tea.ProgramOption {
	var out []tea.ProgramOption
	if o.Input != nil {
		out = append(out, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		out = append(out, tea.WithOutput(o.Output))
	}
	if o.Size.Width > 0 && o.Size.Height > 0 {
		out = append(out, tea.WithWindowSize(o.Size.Width, o.Size.Height))
	}
	env := o.environ()
	out = append(out, tea.WithEnvironment(env), tea.WithoutSignalHandler(), tea.WithFilter(filterSignals))
	// Any value of NO_COLOR counts; the library knows truth values only.
	if o.NoColor ||
		slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "NO_COLOR=") && v != "NO_COLOR=" }) {
		out = append(out, tea.WithColorProfile(colorprofile.ASCII))
	}
	return out
}

func (o *Options) environ() []string {
	if o.Env == nil {
		return os.Environ()
	}
	return o.Env
}
