package tui

import (
	"cmp"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"agentctl/tui/dashboard"
	"agentctl/tui/drafts"
	"agentctl/tui/keymap"
	"agentctl/tui/notify"
	"agentctl/tui/sessionlist"
	"agentctl/tui/sessionview/sidecolumn"
	"agentctl/tui/thumbnail"
	"agentctl/tui/tour"
	"agentctl/tui/ui"
)

// Options configure the screen. The zero value uses the terminal of the process.
type Options struct {
	Input  io.Reader // terminal input; nil: standard input
	Output io.Writer // terminal output; nil: standard output
	Env    []string  // environment of the terminal; nil: the environment of the process
	Size   Size      // screen size if Output is not a terminal

	Theme   ui.Theme       // "": ThemeAuto
	NoColor bool           // disable colours of every theme
	Mouse   bool           // enable mouse reports: the wheel scrolls, a click expands
	Zone    *time.Location // time zone of displayed times; nil: local
	Keys    keymap.Keys    // overrides of the default keys; see keymap.Keys.Check
	Keep    int            // maximum number of open sessions; 0: 3
	CWD     string         // working directory of new sessions; "": the server's
	Local   bool           // the server and the screen have the same file system
	Note    string         // a status message at the start; "": none

	Alerts Alerts
	Parts

	// Left is called after the user left and the terminal was restored. It may be nil.
	Left func(Left)
}

// ReadStore keeps what the user has read. Save may be called outside of the event loop.
type ReadStore interface {
	Load() (sessionlist.Read, error)
	Save(r sessionlist.Read) error
}

// Parts are the options of parts of the screen.
type Parts struct {
	Composer ComposerOptions
	Side     SideOptions
	Panes    PaneOptions
	Tour     *tour.Guide // leads through the tour; nil: no tour
	Create   bool        // the dashboard starts with the form that creates a session

	// Agent returns the agent that this form proposes, or "" for the server's default. Nil: that.
	Agent func() string

	Start Start // what the dashboard offers while there is no session

	// Worktree makes a git worktree for a new session, as dashboard.Config says. Nil: it cannot.
	Worktree func(ctx context.Context, dir, agent string) (Worktree, error)

	NoImages bool // images are lines of text
}

// Start is what the dashboard offers while there is no session.
type Start = dashboard.Start

// StartAgent is an agent of this machine, which the start page offers.
type StartAgent = dashboard.Agent

// Worktree is a git worktree for a new session.
type Worktree = dashboard.Worktree

// SideOptions configure the side column of sessions.
type SideOptions = sidecolumn.Options

// ComposerOptions configure the composer.
type ComposerOptions struct {
	NoShell bool          // no shell commands
	Session string        // ID of the session that Run shows, for its draft
	Drafts  *drafts.Store // unsent messages; closed at the end; nil: kept in memory
}

// Size is the size of a screen in cells. The zero value is an unknown size.
type Size struct{ Width, Height int }

// Alerts configure how the user is alerted when a session needs attention and the terminal has no
// focus.
type Alerts struct {
	Off      bool // disable all alerts
	NoBell   bool // disable the terminal bell
	NoNotify bool // disable desktop notifications
	Only     notify.Only
	Read     ReadStore // what the user has read, else it is unread; nil: it is not kept
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
	notifier := notify.NewNotifier(n, o.Alerts.Off)
	notifier.Restrict(o.Alerts.Only)
	return notifier
}

// newStyles returns the styles. It returns an error if o.Keys is invalid.
func (o *Options) newStyles() (*ui.Styles, error) {
	keys, err := keymap.New(o.Keys)
	if err != nil {
		return nil, err
	}
	s := ui.NewStyles(cmp.Or(o.Zone, time.Local), o.Theme)
	s.GuessBackground(ui.Environ(o.environ())["COLORFGBG"])
	s.Keys, s.Images = keys, thumbnail.NewDisplay(o.NoImages)
	return s, nil
}

// programOptions returns the options of the Bubble Tea program. p belongs to its terminal; it may be
// nil.
func (o *Options) programOptions(p *pace) []tea.ProgramOption {
	var out []tea.ProgramOption
	if o.Input != nil {
		out = append(out, tea.WithInput(o.Input))
	}
	switch file, ok := o.Output.(*os.File); {
	case ok:
		out = append(out, tea.WithOutput(&terminalWriter{file, p}))
	case o.Output != nil:
		out = append(out, tea.WithOutput(o.Output))
	}
	if o.Size.Width > 0 && o.Size.Height > 0 {
		out = append(out, tea.WithWindowSize(o.Size.Width, o.Size.Height))
	}
	env := o.environ()
	out = append(out, tea.WithEnvironment(env), tea.WithoutSignalHandler(), tea.WithFilter(filterSignals))
	switch {
	case o.NoColor || slices.ContainsFunc(env, disablesColor):
		out = append(out, tea.WithColorProfile(colorprofile.ASCII))
	case hasTmuxTrueColor(ui.Environ(env)):
		out = append(out, tea.WithColorProfile(colorprofile.TrueColor))
	}
	return out
}

// hasTmuxTrueColor reports whether the screen is in tmux, and tmux in a terminal of 24-bit colours.
// tmux converts them for other terminals that attach. Bubble Tea ignores COLORTERM in tmux.
func hasTmuxTrueColor(env map[string]string) bool {
	term := env["COLORTERM"]
	return env["TMUX"] != "" && env["STY"] == "" && (term == "truecolor" || term == "24bit")
}

// disablesColor reports whether an environment entry sets NO_COLOR. Any value but the empty one
// disables colours. Bubble Tea recognises boolean values only.
func disablesColor(entry string) bool {
	value, ok := strings.CutPrefix(entry, "NO_COLOR=")
	return ok && value != ""
}

// home returns the user's home directory if the server has the same file system, else "".
func (o *Options) home() string {
	if !o.Local {
		return ""
	}
	return ui.Environ(o.environ())["HOME"]
}

// environ returns the environment of the terminal.
func (o *Options) environ() []string {
	if o.Env == nil {
		return os.Environ()
	}
	return o.Env
}
