package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/wsclient"
)

type attachOptions struct {
	app *app

	Session string
	Plain   bool
	Mouse   bool
	Theme   string
	NoAlert bool
	Keep    int

	chosen func(flag string) bool // by a person
}

func newAttach(a *app, run func(context.Context, *attachOptions) error) *cobra.Command {
	o := &attachOptions{app: a}
	cmd := &cobra.Command{
		Use:   "attach [SESSION]",
		Short: "Watch and steer a session on the screen",
		Long: `Show a session on the screen: what was said, what is being said, the queue, and what waits for a decision. Enter sends, F1 lists the
keys, Ctrl-C twice leaves; the session goes on without you. When the link drops it comes back by itself with everything you missed.

F2 shows all sessions of the server: what each does, who waits for a decision and for how long; there sessions are created, renamed,
removed and approved too, and all of them searched at once. F8 leads to the next one that needs you, and back. Without SESSION the
only one is meant; when there are others, or none, all are shown. With --plain, without a terminal, or on a dumb one, the session is
told in lines: the recent turns, then what happens; lines of stdin are sent as messages, those that begin with / are commands, which
/help lists.

The colours are made for a dark or a light background, whichever the terminal has. --theme contrast has nothing faint, 16 keeps to the
terminal's own sixteen colours. While the terminal has no focus it rings when an approval arrives or a turn ends, unless
--no-alert is given.

What you always want goes into the configuration file (see "agentctl --help"), which is JSON:

  {"server": "ws://127.0.0.1:7777", "dialect": "", "as": "ada",
   "theme": "auto", "color": true, "mouse": false,
   "bell": true, "notify": true, "keep": 3,
   "keys": {"interrupt": ["ctrl+x", "ctrl+b"], "queue.remove": ["x"]}}

All of it may be left out. "keys" gives actions other keys; F1 shows the keys there are, and "agentctl keys" the actions' names.`,
		Example:           "  agentctl attach fix\n  agentctl attach fix --plain",
		Args:              takes(0, 1),
		ValidArgsFunction: a.sessions,
		RunE: does(a, o, func(args []string) error {
			if len(args) > 0 {
				o.Session = args[0]
			}
			if !slices.Contains(tui.Themes(), tui.Theme(o.Theme)) {
				return usagef("--theme is %s, not %q", strings.Join(themes(), ", "), o.Theme)
			}
			if o.Keep < 1 {
				return usagef("--keep is 1 or more, not %d", o.Keep)
			}
			return nil
		}, run),
	}
	o.chosen = cmd.Flags().Changed
	cmd.Flags().BoolVar(&o.Plain, "plain", false, "lines instead of a screen")
	cmd.Flags().BoolVar(&o.Mouse, "mouse", false, "take the mouse; to select text then needs Shift")
	cmd.Flags().StringVar(&o.Theme, "theme", string(tui.ThemeAuto), "`NAME`: "+strings.Join(themes(), ", "))
	cmd.Flags().IntVar(&o.Keep, "keep", 3, "follow the `N` sessions shown last")
	cmd.Flags().BoolVar(&o.NoAlert, "no-alert", false, "neither ring nor notify while the terminal has no focus")
	_ = cmd.RegisterFlagCompletionFunc("theme", cobra.FixedCompletions(themes(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func themes() []string {
	var out []string
	for _, t := range tui.Themes() {
		out = append(out, string(t))
	}
	return out
}

func runAttach(ctx context.Context, o *attachOptions) (err error) {
	onScreen := !o.Plain && o.app.onTerminal()
	if o.app.looks = onScreen; onScreen {
		var stop func() error
		ctx, stop = untilSignal(ctx)
		defer func() { err = cmp.Or(stop(), err) }()
	}
	l, err := o.app.connectWith(ctx, forEver)
	if err != nil {
		return err
	}
	defer l.Close()
	if o.Session == "" {
		all, err := ask[protocol.ListResult](l, protocol.DoList, "", nil)
		switch {
		case protocol.CodeOf(err) == protocol.CodeUnsupported: // as with some dialects
			return faultOf(err).hinting("name the session: agentctl attach SESSION")
		case err != nil:
			return err
		case len(all.Sessions) == 1:
			o.Session = all.Sessions[0].Session
		case !onScreen:
			return o.choose(all.Sessions)
		default:
			return o.desk(ctx, l, "")
		}
	}
	r, err := l.snapshot(o.Session) // its id stays when its name changes
	if err != nil {
		return err
	}
	v := &view{client: l.Client, session: r.Snapshot.State.Session, wire: l.wire}
	if !onScreen {
		return l.reason(left(l.ctx, tui.Plain(l.ctx, v, o.app.text(), o.app.stdin)))
	}
	if slices.Contains(l.Hello().Commands, protocol.DoWatch) {
		return o.desk(ctx, l, v.session)
	}
	return l.parted(left(ctx, tui.Run(ctx, v, o.screen()))) // the server cannot tell of the others
}

// desk shows a session, or all of them.
func (o *attachOptions) desk(ctx context.Context, l *link, session string) error {
	s := o.screen()
	if l.local {
		cwd, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("working directory: %w", err)
		}
		s.CWD = cwd
	}
	return l.parted(left(ctx, tui.RunDashboard(ctx, fleet{l.Client, l.local, l.wire}, session, s)))
}

// parted is the end of a screen, which outlives its link: a person reads on, tries again, or leaves. Who leaves while the server
// refuses them is told why.
func (l *link) parted(err error) error {
	if s := l.State(); err == nil && s.Phase == wsclient.PhaseOffline {
		return s.Err
	}
	return err
}

func (o *attachOptions) screen() tui.Options {
	s := o.app.screen()
	if o.chosen("mouse") {
		s.Mouse = o.Mouse
	}
	if o.chosen("theme") {
		s.Theme = tui.Theme(o.Theme)
	}
	if o.chosen("keep") || s.Keep == 0 {
		s.Keep = o.Keep
	}
	s.Alerts.Off = o.NoAlert
	return s
}

// screen is the terminal, for the program that draws on it, as this person likes it.
func (a *app) screen() tui.Options {
	p := &a.personal
	return tui.Options{
		Input: a.stdin, Output: a.stdout, NoColor: a.flags.NoColor, Theme: p.Theme, Mouse: p.Mouse, Keys: p.Keys, Keep: p.Keep,
		Alerts: tui.Alerts{NoBell: off(p.Bell), NoNotify: off(p.Notify)},
	}
}

// left is why a screen was left, when it was not by a person.
func left(ctx context.Context, err error) error {
	if err == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// onTerminal reports whether there is a person with a screen and keys. A dumb terminal, as an editor's shell is one, has no screen.
func (a *app) onTerminal() bool {
	return isTerminal(a.stdin) && isTerminal(a.stdout) && a.env("TERM") != "dumb"
}

// choose shows which sessions there are, where no person can choose.
func (o *attachOptions) choose(sessions []protocol.Summary) error {
	if len(sessions) == 0 {
		return usagef("there is no session yet").hinting("create one: agentctl new --agent AGENT")
	}
	writeSessions(o.app.text(), sessions, time.Now())
	return usagef("which of %d sessions?", len(sessions)).hinting("agentctl attach SESSION")
}
