package steer

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

type queueOptions struct {
	cli *verb.Context

	Session string
}

var queueVerb = verb.Verb{
	Name: "queue", Group: verb.GroupSteer,
	Build: func(cli *verb.Context) *cobra.Command { return newQueue(cli, runQueueList) },
	Below: calls.Below("queue"),
	Reads: true, Sends: protocol.DoSnapshot,
	Lacks: func(d *codec.Dialect) error {
		if d.HidesQueue {
			return codec.Unsupported(d.Name, "showing the queue", "its servers do not show it")
		}
		return nil
	},
	Trial: "fix",
}

func newQueue(cli *verb.Context, run func(context.Context, *queueOptions) error) *cobra.Command {
	o := &queueOptions{cli: cli}
	return &cobra.Command{
		Use:   "queue SESSION",
		Short: "List and edit queued messages",
		Long: `List the messages that wait for the current turn to end, one per line, the next one
first, then the scheduled ones with their times ("agentctl send --at"). All users of a session share
its queue. "queue rm" cancels a scheduled message, and "queue edit" keeps its time.`,
		Example: `  agentctl queue fix
  agentctl queue edit fix m_12 "and add a test"
  agentctl queue mv fix m_12 0
  agentctl queue hold fix && agentctl queue release fix`,
		Args:              verb.RangeArgs(1, 1),
		ValidArgsFunction: completion.Sessions(cli),
		RunE:              verb.RunE(cli, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
}

func runQueueList(ctx context.Context, o *queueOptions) error {
	r, err := connection.Snapshot(ctx, o.cli, o.Session)
	if err != nil {
		return err
	}
	s := r.Snapshot.State
	for i := range s.Queue {
		err := o.cli.Print(&s.Queue[i], func(w io.Writer) { fmt.Fprintln(w, output.Queued(i, &s.Queue[i])) })
		if err != nil {
			return err
		}
	}
	for i := range s.Scheduled {
		err := o.cli.Print(&s.Scheduled[i], func(w io.Writer) { fmt.Fprintln(w, output.Scheduled(&s.Scheduled[i])) })
		if err != nil {
			return err
		}
	}
	for _, h := range s.Holds {
		o.cli.Notef("held: %s %s by %s", h.ID, h.Reason, output.Actor(h.By))
	}
	return nil
}
