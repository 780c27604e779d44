package attach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/localagent"
	"agentctl/internal/cli/screen"
	"agentctl/internal/cli/sessiontable"
	"agentctl/internal/cli/turn"
	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/internal/userstate"
	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/tui/drafts"
	"agentctl/tui/plain"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
	"agentctl/wsclient/wirelog"
)

type attachOptions struct {
	verb.Options

	Session string
	Plain   bool
	Follow  bool
	Mouse   bool
	Theme   string
	NoAlert bool
	Keep    int
	Wire    string // file of the messages of the connection; "": none
	replayOptions

	changed func(flag string) bool // reports whether a flag was passed
	create  bool                   // the server has no sessions

	sessions []protocol.Summary // of the server; nil: the user named one
}

var attachVerb = verb.Verb{
	Use:   "attach [SESSION]",
	Short: "Open a session in the terminal UI",
	Long: `Open a session in the terminal UI. Enter sends, Ctrl-K lists the commands, F1 the keys, F2 the
sessions; Ctrl-C twice detaches. Without SESSION, the only session is used, else the sessions that
were side by side or the dashboard. With --plain or without a terminal it prints lines and sends the
lines of stdin, and exits 6 if the session needs a person. With --replay, SESSION may be an exported
log. See docs/screen.md, also for the configuration file.`,
	Example:  "  agentctl attach fix\n  agentctl attach fix --plain\n  agentctl attach --replay fix.jsonl",
	Group:    verb.GroupStart,
	Trial:    "fix",
	Complete: completion.Sessions,

	Do: &verb.Steps[attachOptions]{
		Flags: func(o *attachOptions, cmd *cobra.Command) {
			o.changed = cmd.Flags().Changed
			cmd.Flags().BoolVar(&o.Plain, "plain", false, "print lines")
			cmd.Flags().BoolVarP(&o.Follow, "follow", "f", false, "with lines, continue after the end of stdin")
			cmd.Flags().BoolVar(&o.Mouse, "mouse", false, "enable the mouse; select text with Shift")
			cmd.Flags().StringVar(&o.Theme, "theme", string(ui.ThemeAuto), "`NAME` of the colours (docs/screen.md)")
			cmd.Flags().IntVar(&o.Keep, "keep", 3, "keep the last `N` sessions subscribed")
			cmd.Flags().BoolVar(&o.NoAlert, "no-alert", false, "disable bell and notifications")
			cmd.Flags().StringVar(&o.Wire, "wire", "", "append the messages of the connection to `FILE`")
			o.replayOptions.addFlags(cmd)
			verb.CompleteValues(cmd, "theme", config.Themes())
		},
		Read: func(o *attachOptions, args []string) error {
			if len(args) > 0 {
				o.Session = args[0]
			}
			if !slices.Contains(ui.Themes(), ui.Theme(o.Theme)) {
				return exit.Usagef("invalid --theme %q: want %s", o.Theme, strings.Join(config.Themes(), ", "))
			}
			if o.Keep < 1 {
				return exit.Usagef("invalid --keep %d: want 1 or more", o.Keep)
			}
			if o.Wire != "" && o.Replay {
				return exit.Usagef("--wire is for a connection: a replay has none")
			}
			return o.replayOptions.check(o.Session, o.Plain, o.changed("max-pause"))
		},
		Run: runAttach,
	},
}

func runAttach(ctx context.Context, o *attachOptions) (err error) {
	if o.Replay {
		return runReplay(ctx, o)
	}
	onScreen := !o.Plain && screen.HasTerminal(o.CLI)
	var wire *wirelog.Log
	if o.Wire != "" {
		if wire, err = wirelog.Open(o.Wire); err != nil {
			return exit.Usagef("--wire: %w", err)
		}
		defer func() { err = cmp.Or(err, wire.Close()) }()
	}
	if onScreen {
		tui.Prepare()
		var stop func() error
		ctx, stop = verb.NotifySignal(ctx)
		defer func() { err = cmp.Or(stop(), err) }()
	}
	if o.Session == "" {
		if err := o.CLI.Flags.RequireCommand(protocol.DoList, false); err != nil {
			return exit.From(err).WithHint("name a session: agentctl attach SESSION")
		}
	}
	if !onScreen {
		var stop func()
		ctx, stop = verb.WhileRead(ctx, o.CLI.Out.Stdout)
		defer stop()
	}
	c, err := (&connection.Dialer{CLI: o.CLI, Policy: connection.Unbounded, Wire: wire}).Open(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if o.Session == "" {
		list, err := connection.Call[protocol.ListResult](c, protocol.DoList, "", nil)
		switch {
		case err != nil:
			return err
		case len(list.Sessions) == 1:
			o.Session = list.Sessions[0].Session
		case !onScreen:
			return o.listSessions(list.Sessions)
		default:
			o.create, o.sessions = len(list.Sessions) == 0, list.Sessions
			return o.runDashboard(ctx, c, "")
		}
	}
	r, err := c.Snapshot(o.Session) // for the id: the name may change
	if err != nil {
		return err
	}
	s := &screen.Session{Client: c.Client, Session: r.Snapshot.State.Session}
	if !onScreen {
		return o.runPlain(c, s)
	}
	if slices.Contains(c.Hello().Commands, protocol.DoWatch) {
		return o.runDashboard(ctx, c, s.Session)
	}
	options := o.screenOptions()
	options.Local, options.Composer.Session = c.Local, s.Session
	options.Composer.Drafts = openDrafts(o.CLI)
	return screen.LeaveError(c, verb.LeaveCause(ctx, tui.Run(ctx, s, options))) // the server has no dashboard
}

// runPlain prints the session as lines until the input ends.
func (o *attachOptions) runPlain(c *connection.Conn, s remote.Session) error {
	for _, n := range o.CLI.User.Retired() {
		o.CLI.Out.Notef("%s", n)
	}
	err := plain.Run(c.Context(), s, o.CLI.Out.Text(), o.CLI.Stdin, plain.Options{
		Columns: o.CLI.Out.Columns, EndWithInput: !o.Follow,
	})
	var unfinished *plain.UnfinishedError
	if errors.As(err, &unfinished) {
		if s := unfinished.State; len(s.Approvals) > 0 {
			return turn.ApprovalNeeded(s)
		}
		return turn.QueueHeld(unfinished.State, unfinished.State.BlockingHold())
	}
	return c.Cause(verb.LeaveCause(c.Context(), err))
}

// runDashboard opens a session, or the dashboard if session is empty.
func (o *attachOptions) runDashboard(ctx context.Context, c *connection.Conn, session string) error {
	options := o.screenOptions()
	options.Local = c.Local
	if read := newReadState(o.CLI.Env); read != nil {
		options.Alerts.Read = read
	}
	if c.Local {
		cwd, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("working directory: %w", err)
		}
		options.CWD = cwd
		if o.CLI.Flags.Dialect == "" {
			options.Worktree = makeWorktrees(&o.CLI.User.Worktree)
		}
	}
	options.Composer.Drafts = openDrafts(o.CLI)
	options.Panes = paneOptions(o.CLI, o.sessions)
	server := screen.Server{Client: c.Client, Local: c.Local}
	if c.Own {
		// The first frame does not wait for these searches of PATH.
		server.Order = func(names []string) []string { return localagent.Of(o.CLI).SortReady(names) }
		options.Agent = func() string { return localagent.Of(o.CLI).ForForm(c.Hello().Agents) }
		options.Start = o.start(c)
	}
	options.Create = o.create && o.CLI.Flags.RequireCommand(protocol.DoCreate, false) == nil
	if c.Own && o.CLI.Flags.Dialect == "" {
		server.Environment = func(agent string) map[string]string { return localagent.Of(o.CLI).Environment(agent) }
		server.Agent = func() (string, error) {
			name, _, err := localagent.Of(o.CLI).Default(c.Hello().Agents)
			return name, err
		}
	}
	all, closeOthers := screen.WithNamedServers(o.CLI, server)
	defer closeOthers()
	return screen.LeaveError(c, verb.LeaveCause(ctx, tui.RunDashboard(ctx, all, session, options)))
}

// start returns what the screen offers on a machine without sessions.
func (o *attachOptions) start(c *connection.Conn) tui.Start {
	program, err := os.Executable()
	if err != nil {
		program = "agentctl"
	}
	return tui.Start{
		Agents: func() (out []tui.StartAgent) {
			for _, r := range localagent.Of(o.CLI).Installations(c.Hello().Agents) {
				out = append(out, tui.StartAgent{
					Name: r.Agent, Ready: localagent.Readiness(&r) == 0, About: localagent.NextStep(&r),
				})
			}
			return out
		},
		Tour: "'" + strings.ReplaceAll(program, "'", `'\''`) + "' tour",
	}
}

func (o *attachOptions) screenOptions() tui.Options {
	s := screen.Options(o.CLI)
	if o.changed("mouse") {
		s.Mouse = o.Mouse
	}
	if o.changed("theme") {
		s.Theme = ui.Theme(o.Theme)
	}
	if o.changed("keep") || s.Keep == 0 {
		s.Keep = o.Keep
	}
	s.Alerts.Off = o.NoAlert
	s.Left = func(l tui.Left) { reportLeft(o.CLI, l) }
	switch names := o.CLI.User.Retired(); len(names) {
	case 0:
	case 1:
		s.Note = names[0].String()
	default:
		s.Note = fmt.Sprintf("%d names in config.json have no effect: agentctl doctor lists them", len(names))
	}
	return s
}

// openDrafts returns the unsent messages for the server. Without a directory for the state of
// programs they stay in memory.
func openDrafts(cli *verb.Context) *drafts.Store {
	return drafts.Open(userstate.Find(cli.Env).Sub("drafts"), stateServer(cli))
}

// stateServer returns the URL of the server by which state of the screen is kept.
func stateServer(cli *verb.Context) string {
	if cli.Flags.Server != "" {
		return cli.Flags.Server
	}
	dir, err := cli.DataDir()
	if err != nil {
		return ""
	}
	return dir.SocketURL()
}

// listSessions prints the sessions and returns a usage error: without a screen the user has to name
// one.
func (o *attachOptions) listSessions(sessions []protocol.Summary) error {
	if len(sessions) == 0 {
		return exit.Usagef("there are no sessions").WithHint("create one: agentctl new --agent AGENT").
			Needs(protocol.DoCreate)
	}
	sessiontable.WriteSessions(o.CLI.Out.Text(), sessions, time.Now())
	return exit.Usagef("there are %d sessions: name one", len(sessions)).WithHint("agentctl attach SESSION")
}

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{&attachVerb, &keysVerb}
