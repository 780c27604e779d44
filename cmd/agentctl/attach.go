package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"agentctl/protocol"
	"agentctl/tui"
)

type attachOptions struct {
	app *app

	Session string
	Plain   bool
}

func newAttach(a *app, run func(context.Context, *attachOptions) error) *cobra.Command {
	o := &attachOptions{app: a}
	cmd := &cobra.Command{
		Use:   "attach [SESSION]",
		Short: "Watch and steer a session on the screen",
		Long: `Show a session on the screen: what was said, what is being said, the queue, and what waits for a decision. Enter sends, F1 lists the
keys, Ctrl-C twice leaves; the session goes on without you. When the link drops it comes back by itself with everything you missed.

Without SESSION the only one is meant. With --plain, or without a terminal, the session is told in lines: the recent turns, then
what happens; lines of stdin are sent as messages, those that begin with / are commands.`,
		Example:           "  agentctl attach fix\n  agentctl attach fix --plain",
		Args:              takes(0, 1),
		ValidArgsFunction: a.sessions,
		RunE: does(a, o, func(args []string) error {
			if len(args) > 0 {
				o.Session = args[0]
			}
			return nil
		}, run),
	}
	cmd.Flags().BoolVar(&o.Plain, "plain", false, "lines instead of a screen")
	return cmd
}

func runAttach(ctx context.Context, o *attachOptions) error {
	l, err := o.app.connectWith(ctx, forEver)
	if err != nil {
		return err
	}
	defer l.Close()
	if o.Session == "" {
		if o.Session, err = o.only(l); err != nil {
			return err
		}
	}
	r, err := l.snapshot(o.Session) // its id stays when its name changes
	if err != nil {
		return err
	}
	v := &view{client: l.Client, session: r.Snapshot.State.Session}
	return l.reason(o.app.show(l.ctx, v, o.Plain))
}

// show shows a session on the terminal, or as lines where there is none.
func (a *app) show(ctx context.Context, s tui.Session, plain bool) error {
	var err error
	if plain || !a.onTerminal() {
		err = tui.Plain(ctx, s, a.text(), a.stdin)
	} else {
		err = tui.Run(ctx, s, tui.Options{Input: a.stdin, Output: a.stdout, NoColor: a.flags.NoColor})
	}
	if err == nil && ctx.Err() != nil { // nobody left
		err = context.Cause(ctx)
	}
	return err
}

// onTerminal reports whether there is a person with a screen and keys.
func (a *app) onTerminal() bool { return isTerminal(a.stdin) && isTerminal(a.stdout) }

// only returns the only session, or shows which there are.
func (o *attachOptions) only(l *link) (string, error) {
	all, err := ask[protocol.ListResult](l, protocol.DoList, "", nil)
	if err != nil {
		return "", err
	}
	switch len(all.Sessions) {
	case 0:
		return "", usagef("there is no session yet").hinting("create one: agentctl new --agent AGENT")
	case 1:
		return all.Sessions[0].Session, nil
	}
	writeSessions(o.app.text(), all.Sessions, time.Now())
	return "", usagef("which of %d sessions?", len(all.Sessions)).hinting("agentctl attach SESSION")
}
