package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/output"
	"agentctl/protocol"
)

type queueOptions struct {
	app *app

	Session string
}

func newQueue(a *app) *cobra.Command {
	cmd := newQueueList(a, runQueueList)
	cmd.AddCommand(newQueueEdit(a, runQueueEdit), newQueueRemove(a, runQueueRemove), newQueueMove(a, runQueueMove),
		newQueueHold(a, runQueueHold), newQueueRelease(a, runQueueRelease))
	return cmd
}

func newQueueList(a *app, run func(context.Context, *queueOptions) error) *cobra.Command {
	o := &queueOptions{app: a}
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
		Args:              rangeArgs(1, 1),
		ValidArgsFunction: a.completeSessions,
		RunE:              runE(a, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
}

func runQueueList(ctx context.Context, o *queueOptions) error {
	r, err := o.app.snapshot(ctx, o.Session)
	if err != nil {
		return err
	}
	s := r.Snapshot.State
	for i := range s.Queue {
		err := o.app.print(&s.Queue[i], func(w io.Writer) { fmt.Fprintln(w, queueLine(i, &s.Queue[i])) })
		if err != nil {
			return err
		}
	}
	for i := range s.Scheduled {
		err := o.app.print(&s.Scheduled[i], func(w io.Writer) { fmt.Fprintln(w, scheduledLine(&s.Scheduled[i])) })
		if err != nil {
			return err
		}
	}
	for _, h := range s.Holds {
		o.app.notef("held: %s %s by %s", h.ID, h.Reason, output.Actor(h.By))
	}
	return nil
}

func queueLine(i int, m *protocol.Message) string {
	return fmt.Sprintf("%d  %s  %s  %s", i, m.MessageID, output.Actor(m.By), output.OneLine(m.Text, 72))
}

func scheduledLine(m *protocol.Message) string {
	due := ""
	if m.NotBefore != nil {
		due = localTime(*m.NotBefore)
	}
	return fmt.Sprintf("%s  %s  %s  %s", due, m.MessageID, output.Actor(m.By), output.OneLine(m.Text, 72))
}
