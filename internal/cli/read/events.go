package read

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/sessionlog"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/export"
	"agentctl/protocol"
	"agentctl/wsclient"
)

type eventsOptions struct {
	verb.Options

	Session string
	Since   *protocol.Position
	Follow  bool
	Fold    bool

	since string // of --since
}

var eventsVerb = verb.Verb{
	Use:   "events SESSION",
	Short: "Print a session's events as JSON lines",
	Long: `Print the events of a session, one JSON object per line: all, or those after --since, EPOCH:SEQ or
SEQ. With --follow, continue with new events, across restarts of the server. With --fold, a run of
deltas is one event. If the log was replaced, or ends before --since, the last line has the type
reset and the exit code is 9. See docs/scripts.md.`,
	Example: `  agentctl events fix | jq -r 'select(.type=="text.delta").data.text'
  agentctl events fix --since 120 --follow`,
	Group: verb.GroupRead, Reads: true, Sends: protocol.DoSubscribe,
	Trial:    "fix --follow",
	Complete: completion.Sessions,

	Do: &verb.Steps[eventsOptions]{
		Flags: func(o *eventsOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&o.since, "since", "", "print only events after `POSITION`")
			f.BoolVarP(&o.Follow, "follow", "f", false, "continue with new events")
			f.BoolVar(&o.Fold, "fold", false, "join runs of deltas")
		},
		Read: func(o *eventsOptions, args []string) error {
			o.Session = args[0]
			if o.since == "" {
				return nil
			}
			p, err := protocol.ParsePosition(o.since)
			if err != nil {
				return exit.Usagef("--since: %w", err)
			}
			o.Since = &p
			return nil
		},
		Run: runEvents,
	},
}

func runEvents(ctx context.Context, o *eventsOptions) error {
	policy := connection.OneShot
	if o.Follow {
		policy = connection.Unbounded
		var stop func()
		ctx, stop = verb.WhileRead(ctx, o.CLI.Out.Stdout)
		defer stop()
	}
	c, err := connection.OpenWith(ctx, o.CLI, policy)
	if err != nil {
		return err
	}
	defer c.Close()
	since := protocol.Position{}
	if o.Since != nil {
		since = *o.Since
	}
	lines := eventLines{lines: export.NewJSONLines(o.CLI.Out.Data()), fold: o.Fold}
	r := sessionlog.Reader{Conn: c, CLI: o.CLI, Session: o.Session, Raw: true, Follow: o.Follow, Strict: true}
	err = r.Read(since, func(item wsclient.Item) error {
		if item.Raw != nil {
			if err := lines.write(item); err != nil {
				return err
			}
		}
		if r.Live { // no more events may come for a while
			return lines.lines.Flush()
		}
		return nil
	})
	if closeErr := lines.close(); err == nil {
		err = closeErr
	}
	var reset *sessionlog.ResetError
	if errors.As(err, &reset) {
		return o.reportReset(reset)
	}
	return err
}

// reportReset prints the line that ends the events of a replaced log, and returns the error.
func (o *eventsOptions) reportReset(r *sessionlog.ResetError) error {
	err := o.CLI.Out.PrintJSON(struct {
		Type     string            `json:"type"`
		Reason   string            `json:"reason"`
		Since    protocol.Position `json:"since"`
		Position protocol.Position `json:"position"`
	}{"reset", r.Reason, r.Since, r.Current})
	if err != nil {
		return err
	}
	return exit.Errorf(exit.LogReplaced, exit.CodeLogReplaced, "%w", r).
		WithHint("read it from the start: agentctl events %s", o.Session)
}

// eventLines prints events as lines. With fold it joins runs of deltas itself: those that a server
// joins depend on how far it has come, and the same events are to give the same lines always.
type eventLines struct {
	lines *export.JSONLines
	fold  bool
	run   protocol.DeltaRun
}

func (l *eventLines) write(item wsclient.Item) error {
	if !l.fold {
		return l.lines.Write(item.Raw)
	}
	e := item.Event
	d, ok := e.Delta()
	if ok && e.FirstSeq == 0 && len(d.Text) <= protocol.MaxJoined {
		if l.run.Add(e, d) {
			return nil
		}
		if err := l.endRun(); err != nil {
			return err
		}
		l.run.Add(e, d)
		return nil
	}
	if err := l.endRun(); err != nil {
		return err
	}
	return l.lines.Write(item.Raw)
}

// endRun prints the open run.
func (l *eventLines) endRun() error {
	if l.run.Len() == 0 {
		return nil
	}
	e := l.run.Event()
	l.run.Reset()
	return l.lines.Write(e.AppendJSON(nil))
}

// close prints the open run and the buffered lines.
func (l *eventLines) close() error {
	if err := l.endRun(); err != nil {
		return err
	}
	return l.lines.Flush()
}
