package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type sendOptions struct {
	app *app

	Session string
	Text    []string
	Wait    bool
	Follow  bool
	Front   bool
	Key     string
}

func newSend(a *app, run func(context.Context, *sendOptions) error) *cobra.Command {
	o := &sendOptions{app: a}
	cmd := &cobra.Command{
		Use:   "send SESSION [TEXT|-]",
		Short: "Send a message to a session",
		Long: `Send a message: it starts a turn, or waits in the queue while one runs. Without TEXT, or with -, it is read from stdin.

With --wait the exit code tells how the message's turn ended: 0 completed, 7 failed, 130 interrupted or the message was taken out of
the queue; 6 as soon as it takes a person: something waits for a decision, or the queue is held before it. --follow waits too, and
prints the answer's text as it comes; with -o json the turn's events.

With --id the message is sent once, however often this is tried: the same key waits for the same turn.`,
		Example: `  agentctl send fix "make the tests pass"
  agentctl send fix --follow "what did you change?"
  git diff | agentctl send fix --wait --timeout 10m; echo $?`,
		Args:              takes(1, 2),
		ValidArgsFunction: a.sessions,
		RunE: does(a, o, func(args []string) error {
			o.Session, o.Text = args[0], args[1:]
			return nil
		}, run),
	}
	f := cmd.Flags()
	f.BoolVarP(&o.Wait, "wait", "w", false, "wait for the end of the message's turn")
	f.BoolVarP(&o.Follow, "follow", "f", false, "wait, and print the answer as it comes")
	f.BoolVar(&o.Front, "front", false, "ahead of the queue")
	f.StringVar(&o.Key, "id", "", "`KEY`: however often tried, it is sent once")
	return cmd
}

func runSend(ctx context.Context, o *sendOptions) error {
	text, err := o.app.readText(o.Text)
	if err != nil {
		return err
	}
	if text == "" {
		return usagef("the message is empty")
	}
	stays := brief
	if o.Wait || o.Follow {
		stays = giveUp
	}
	l, err := o.app.connectWith(ctx, stays)
	if err != nil {
		return err
	}
	defer l.Close()
	res, err := askWithKey[protocol.SendResult](l, protocol.DoSend, o.Session, o.Key, protocol.SendData{Text: text, Front: o.Front})
	if err != nil {
		return err
	}
	if o.Follow && !o.app.json() {
		if res.Status == protocol.SendQueued {
			o.app.note("queued")
		}
	} else if err := o.app.emit(res, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", res.Status, res.MessageID) }); err != nil {
		return err
	}
	if !o.Wait && !o.Follow {
		return nil
	}
	f := follower{app: o.app, message: res.MessageID, turn: res.Turn, show: o.Follow}
	return f.follow(l, o.Session, res.Seq)
}
