package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"agentctl/dialect"
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
		Short: "Show and change the messages that wait",
		Long: `Show the messages that wait for the turn under way to end, one per line, the next one first. Everybody who may steer the session
sees and changes the same queue.`,
		Example: `  agentctl queue fix
  agentctl queue edit fix m_12 "and add a test"
  agentctl queue mv fix m_12 0
  agentctl queue hold fix && agentctl queue release fix`,
		Args:              takes(1, 1),
		ValidArgsFunction: a.sessions,
		RunE:              does(a, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
}

func runQueueList(ctx context.Context, o *queueOptions) error {
	l, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	r, err := l.snapshot(o.Session)
	if err != nil {
		return err
	}
	if d, _ := dialect.Find(o.app.flags.Dialect); d.HidesQueue {
		return unsupportedf("the dialect %s does not tell what waits", d.Name)
	}
	s := r.Snapshot.State
	for i := range s.Queue {
		if err := o.app.emit(&s.Queue[i], func(w io.Writer) { fmt.Fprintln(w, queueLine(i, &s.Queue[i])) }); err != nil {
			return err
		}
	}
	for _, h := range s.Holds {
		o.app.note("held: %s %s by %s", h.ID, h.Reason, actor(h.By))
	}
	return nil
}

func queueLine(i int, m *protocol.Message) string {
	return fmt.Sprintf("%d  %s  %s  %s", i, m.MessageID, actor(m.By), oneLine(m.Text, 72))
}

type queueEditOptions struct {
	app *app

	Session string
	Message string
	Text    []string
}

func newQueueEdit(a *app, run func(context.Context, *queueEditOptions) error) *cobra.Command {
	o := &queueEditOptions{app: a}
	return &cobra.Command{
		Use:               "edit SESSION MESSAGE [TEXT|-]",
		Short:             "Replace the text of a message that waits",
		Example:           "  agentctl queue edit fix m_12 \"and add a test\"",
		Args:              takes(2, 3),
		ValidArgsFunction: a.within(queuedMessages),
		RunE: does(a, o, func(args []string) error {
			o.Session, o.Message, o.Text = args[0], args[1], args[2:]
			return nil
		}, run),
	}
}

func runQueueEdit(ctx context.Context, o *queueEditOptions) error {
	text, err := o.app.readText(o.Text)
	if err != nil {
		return err
	}
	_, err = once[protocol.Empty](ctx, o.app, protocol.DoQueueEdit, o.Session, protocol.QueueEditData{MessageID: o.Message, Text: text})
	return err
}

type queueRemoveOptions struct {
	app *app

	Session  string
	Messages []string
}

func newQueueRemove(a *app, run func(context.Context, *queueRemoveOptions) error) *cobra.Command {
	o := &queueRemoveOptions{app: a}
	return &cobra.Command{
		Use:               "rm SESSION MESSAGE…",
		Short:             "Take messages out of the queue",
		Example:           "  agentctl queue rm fix m_12",
		Args:              takes(2, -1),
		ValidArgsFunction: a.within(queuedMessages),
		RunE: does(a, o, func(args []string) error {
			o.Session, o.Messages = args[0], args[1:]
			return nil
		}, run),
	}
}

func runQueueRemove(ctx context.Context, o *queueRemoveOptions) error {
	l, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	for _, m := range o.Messages {
		res, err := ask[protocol.QueueRemoveResult](l, protocol.DoQueueRemove, o.Session, protocol.QueueRemoveData{MessageID: m})
		if err != nil {
			return err
		}
		if !res.Removed {
			return protocol.Errorf(protocol.CodeNotFound, "message %s does not wait: it has started, or is gone", m)
		}
	}
	return nil
}

type queueMoveOptions struct {
	app *app

	Session string
	Message string
	Index   int
}

func newQueueMove(a *app, run func(context.Context, *queueMoveOptions) error) *cobra.Command {
	o := &queueMoveOptions{app: a}
	return &cobra.Command{
		Use:               "mv SESSION MESSAGE INDEX",
		Short:             "Move a message to a place in the queue, 0 being the next one",
		Example:           "  agentctl queue mv fix m_12 0",
		Args:              takes(3, 3),
		ValidArgsFunction: a.within(queuedMessages),
		RunE: does(a, o, func(args []string) error {
			index, err := strconv.Atoi(args[2])
			if err != nil || index < 0 {
				return usagef("INDEX is 0 or more, not %q", args[2])
			}
			o.Session, o.Message, o.Index = args[0], args[1], index
			return nil
		}, run),
	}
}

func runQueueMove(ctx context.Context, o *queueMoveOptions) error {
	_, err := once[protocol.Empty](ctx, o.app, protocol.DoQueueMove, o.Session, protocol.QueueMoveData{MessageID: o.Message, Index: o.Index})
	return err
}
