package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// What wait waits for.
const (
	forIdle     = "idle"
	forApproval = "approval"
	forTurn     = "turn"
)

type waitOptions struct {
	app *app

	Session string
	For     string
}

func newWait(a *app, run func(context.Context, *waitOptions) error) *cobra.Command {
	o := &waitOptions{app: a}
	cmd := &cobra.Command{
		Use:   "wait SESSION --for idle|approval|turn",
		Short: "Wait until a session is idle, asks, or ends a turn",
		Long: `Wait until a session is idle (no turn and an empty queue), asks for a decision, or ends its next turn. Exit code 6 says that it
takes a person before that can happen: something waits for a decision or the queue is held. With --for turn the exit code tells how
the turn ended: 0 completed, 7 failed, 130 interrupted.`,
		Example:           "  agentctl wait fix --for idle --timeout 10m\n  agentctl wait fix --for approval && agentctl approvals fix",
		Args:              takes(1, 1),
		ValidArgsFunction: a.sessions,
	}
	cmd.RunE = does(a, o, func(args []string) error {
		o.Session = args[0]
		switch o.For {
		case forIdle, forApproval, forTurn:
			return nil
		}
		return usagef("--for is idle, approval or turn, not %q", o.For)
	}, run)
	cmd.Flags().StringVar(&o.For, "for", forIdle, "what to wait for: idle, approval or turn")
	_ = cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions([]string{forIdle, forApproval, forTurn}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runWait(ctx context.Context, o *waitOptions) error {
	l, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	sub := l.Subscribe(o.Session, wsclient.SubscribeOptions{})
	defer sub.Close()
	w := watcher{what: o.For}
	for item, err := range sub.Events(l.ctx) {
		if err != nil {
			return l.reason(err)
		}
		done, err := w.step(&item)
		if err != nil {
			return err
		}
		if done {
			return o.reached(&w)
		}
	}
	return l.reason(fmt.Errorf("wait for %s of %s: %w", o.For, o.Session, context.Cause(l.ctx)))
}

// reached prints what was waited for; a turn's end decides the exit code.
func (o *waitOptions) reached(w *watcher) error {
	view := struct {
		Session string             `json:"session"`
		For     string             `json:"for"`
		Status  protocol.Status    `json:"status"`
		Turn    *protocol.LastTurn `json:"turn,omitempty"`
		Request string             `json:"request,omitempty"`
	}{w.state.Session, o.For, w.state.Status(), w.ended, ""}
	if o.For == forApproval {
		view.Request = w.state.Approvals[0].Request
	}
	err := o.app.emit(view, func(out io.Writer) {
		switch {
		case view.Turn != nil:
			fmt.Fprintf(out, "%s %s\n", view.Turn.Turn, view.Turn.Reason)
		case view.Request != "":
			fmt.Fprintln(out, approvalLine(&w.state.Approvals[0]))
		default:
			fmt.Fprintln(out, view.Status)
		}
	})
	if err == nil && w.ended != nil {
		return turnFault(&protocol.TurnEndedData{Reason: w.ended.Reason, Code: w.ended.Code, Message: w.ended.Message})
	}
	return err
}

// A watcher folds a session's events and tells when what is waited for is there.
type watcher struct {
	what  string
	state *protocol.State
	turns int // that had ended at the call
	begun bool
	live  bool               // the state is that of now
	ended *protocol.LastTurn // the turn that ended after the call
}

// step takes one item in. Its error is a fault: it takes a person, or the session is closed.
func (w *watcher) step(item *wsclient.Item) (done bool, _ error) {
	switch {
	case item.Attached != nil:
		if at := item.Attached; at.Snapshot != nil && at.Snapshot.State != nil {
			w.state, w.live = at.Snapshot.State, false
		}
		if w.state == nil {
			return false, fmt.Errorf("wait: the server sent no state")
		}
		w.live = w.live || w.state.Seq >= item.Attached.Position.Seq
	case item.Event.Type == protocol.CaughtUp:
		w.live = true
	case item.Event.Durable():
		if err := w.state.Apply(item.Event); err != nil {
			return false, fmt.Errorf("wait: %w", err)
		}
	}
	if !w.live {
		return false, nil
	}
	if !w.begun {
		w.begun, w.turns = true, w.state.Turns
	}
	return w.check()
}

func (w *watcher) check() (done bool, _ error) {
	s := w.state
	if w.what == forTurn && s.Turns > w.turns {
		w.ended = s.Last
		return true, nil
	}
	if w.what == forApproval && len(s.Approvals) > 0 {
		return true, nil
	}
	if w.what == forIdle && s.Turn == nil && len(s.Queue) == 0 {
		return true, nil
	}
	if s.Closed {
		return false, protocol.Errorf(protocol.CodeSessionClosed, "the session was closed")
	}
	if len(s.Approvals) > 0 {
		return false, approvalFault(s)
	}
	if h := s.BlockingHold(); h != nil && len(s.Queue) > 0 && (s.Turn == nil || w.what == forIdle) {
		return false, heldFault(s, h)
	}
	return false, nil
}
