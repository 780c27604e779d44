package main

import (
	"bufio"
	"context"

	"github.com/spf13/cobra"

	"agentctl/protocol"
	"agentctl/wsclient"
)

type eventsOptions struct {
	app *app

	Session string
	Since   *protocol.Position
	Follow  bool
	Fold    bool
}

func newEvents(a *app, run func(context.Context, *eventsOptions) error) *cobra.Command {
	o := &eventsOptions{app: a}
	var since string
	cmd := &cobra.Command{
		Use:   "events SESSION",
		Short: "Print a session's events, one JSON object per line",
		Long: `Print a session's events as they are on the wire, one JSON object per line: from the first one or those after --since, up to what
there is now, or with --follow on and on, over restarts of the server, until killed. A position is EPOCH:SEQ as status shows it; a
bare SEQ means the epoch of now. With --fold a run of deltas comes as one event.`,
		Example: `  agentctl events fix | jq -r 'select(.type=="text.delta").data.text'
  agentctl events fix --since 120 --follow`,
		Args:              takes(1, 1),
		ValidArgsFunction: a.sessions,
	}
	cmd.RunE = does(a, o, func(args []string) error {
		o.Session = args[0]
		if since == "" {
			return nil
		}
		p, err := protocol.ParsePosition(since)
		if err != nil {
			return usagef("--since: %w", err)
		}
		o.Since = &p
		return nil
	}, run)
	f := cmd.Flags()
	f.StringVar(&since, "since", "", "only events after this `POSITION`")
	f.BoolVarP(&o.Follow, "follow", "f", false, "go on with what comes, until killed")
	f.BoolVar(&o.Fold, "fold", false, "join runs of deltas")
	return cmd
}

func runEvents(ctx context.Context, o *eventsOptions) error {
	p := brief
	if o.Follow {
		p = forEver
	}
	l, err := o.app.connectWith(ctx, p)
	if err != nil {
		return err
	}
	defer l.Close()
	since := protocol.Position{}
	if o.Since != nil {
		since = *o.Since
	}
	out := bufio.NewWriterSize(o.app.data(), 64<<10)
	r := reader{link: l, app: o.app, session: o.Session, raw: !o.Fold, follow: o.Follow}
	err = r.read(since, func(item wsclient.Item) error {
		if item.Raw != nil {
			if _, err := out.Write(item.Raw); err != nil {
				return wrapOutput(err)
			}
			if err := out.WriteByte('\n'); err != nil {
				return wrapOutput(err)
			}
		}
		if r.live { // somebody waits for it
			return wrapOutput(out.Flush())
		}
		return nil
	})
	if flushErr := wrapOutput(out.Flush()); err == nil {
		err = flushErr
	}
	return err
}
