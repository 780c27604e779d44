package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// The values of --for.
const (
	forIdle     = "idle"
	forApproval = "approval"
	forTurn     = "turn"
)

type waitOptions struct {
	app *app

	Session string
	For     string
	Message string
	Turn    string
}

func newWait(a *app, run func(context.Context, *waitOptions) error) *cobra.Command {
	o := &waitOptions{app: a}
	cmd := &cobra.Command{
		Use:   "wait SESSION",
		Short: "Wait for a session",
		Long: `Wait until a session is idle (no turn and an empty queue), has a pending approval, ends
its next turn, or has ended the turn that --message or --turn names. It exits 6 if the session needs
a person first: an approval is pending or the queue is held. For a turn, and for idle with that of
the last turn, the exit code is the result: 0 completed, 7 failed, 130 interrupted.

With -o json, --message and --turn print an object of type outcome, as agentctl send --wait.`,
		Example: "  agentctl wait fix --for idle --timeout 10m\n" +
			"  agentctl wait fix --for approval && agentctl approvals fix",
		Args:              rangeArgs(1, 1),
		ValidArgsFunction: a.completeSessions,
	}
	cmd.RunE = runE(a, o, func(args []string) error {
		o.Session = args[0]
		if o.Message != "" && o.Turn != "" || (o.Message != "" || o.Turn != "") && cmd.Flags().Changed("for") {
			return exit.Usagef("--for, --message and --turn exclude each other")
		}
		switch o.For {
		case forIdle, forApproval, forTurn:
			return nil
		}
		return exit.Usagef("invalid --for %q: want idle, approval or turn", o.For)
	}, run)
	f := cmd.Flags()
	f.StringVar(&o.For, "for", forIdle, "`EVENT` to wait for: idle, approval or turn")
	f.StringVar(&o.Message, "message", "", "wait for the turn of the message `ID`")
	f.StringVar(&o.Turn, "turn", "", "wait for the turn `ID`")
	completeValues(cmd, "for", []string{forIdle, forApproval, forTurn})
	_ = cmd.RegisterFlagCompletionFunc("message", a.completeInSession(unfinishedCompletions))
	_ = cmd.RegisterFlagCompletionFunc("turn", a.completeInSession(turnCompletions))
	return cmd
}

func runWait(ctx context.Context, o *waitOptions) error {
	policy := oneShot
	if o.Message != "" || o.Turn != "" {
		policy = bounded
	}
	c, err := o.app.connectWith(ctx, policy)
	if err != nil {
		return err
	}
	defer c.Close()
	if o.Message != "" || o.Turn != "" {
		t := messageTracker{app: o.app, message: o.Message, turn: o.Turn, mustExist: true}
		return t.trackUntilInterrupted(c, o.Session, 0)
	}
	sub := c.Subscribe(o.Session, wsclient.SubscribeOptions{})
	defer sub.Close()
	w := waiter{condition: o.For}
	for item, err := range sub.Events(c.ctx) {
		if err != nil {
			return c.cause(err)
		}
		done, err := w.apply(&item)
		if err != nil {
			return err
		}
		if done {
			return o.print(&w)
		}
	}
	return c.cause(fmt.Errorf("wait for %s of %s: %w", o.For, o.Session, context.Cause(c.ctx)))
}

// print prints the result. For a turn it returns the error of the turn's end.
func (o *waitOptions) print(w *waiter) error {
	result := struct {
		Session string             `json:"session"`
		For     string             `json:"for"`
		Status  protocol.Status    `json:"status"`
		Turn    *protocol.LastTurn `json:"turn,omitempty"`
		Request string             `json:"request,omitempty"`
	}{w.state.Session, o.For, w.state.Status(), w.ended, ""}
	if o.For == forIdle {
		w.ended = w.state.Last
	}
	if o.For == forApproval {
		result.Request = w.state.Approvals[0].Request
	}
	err := o.app.print(result, func(out io.Writer) {
		switch {
		case result.Turn != nil && o.For == forTurn:
			fmt.Fprintf(out, "%s %s\n", result.Turn.Turn, result.Turn.Reason)
		case result.Request != "":
			fmt.Fprintln(out, output.Approval(&w.state.Approvals[0]))
		default:
			fmt.Fprintln(out, result.Status)
		}
	})
	if err == nil && w.ended != nil {
		return turnError(&protocol.TurnEndedData{Reason: w.ended.Reason, Code: w.ended.Code, Message: w.ended.Message})
	}
	return err
}

// A waiter applies the events of a session until the condition of wait holds.
type waiter struct {
	condition string // value of --for
	message   string // with forIdle: idle as to this message, neither queued nor running; empty: the session
	state     *protocol.State
	turns     int                // ended before the call
	started   bool               // turns is set
	live      bool               // state is current
	ended     *protocol.LastTurn // turn that ended after the call
}

// apply handles one item and reports whether the condition holds. It returns an error if the
// session needs a person first, or is closed.
func (w *waiter) apply(item *wsclient.Item) (done bool, _ error) {
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
	if !w.started {
		w.started, w.turns = true, w.state.Turns
	}
	return w.check()
}

func (w *waiter) check() (done bool, _ error) {
	s := w.state
	if w.condition == forTurn && s.Turns > w.turns {
		w.ended = s.Last
		return true, nil
	}
	if w.condition == forApproval && len(s.Approvals) > 0 {
		return true, nil
	}
	if w.condition == forIdle && w.idle() {
		return true, nil
	}
	if s.Closed {
		return false, protocol.Errorf(protocol.CodeSessionClosed, "the session was closed")
	}
	if len(s.Approvals) > 0 {
		return false, approvalNeeded(s)
	}
	if h := s.BlockingHold(); h != nil && len(s.Queue) > 0 && (s.Turn == nil || w.condition == forIdle) {
		return false, queueHeld(s, h)
	}
	return false, nil
}

// idle reports whether the session, or the message, has nothing left to do.
func (w *waiter) idle() bool {
	s := w.state
	if w.message != "" {
		return s.QueueIndex(w.message) < 0 && (s.Turn == nil || s.Turn.Message.MessageID != w.message)
	}
	return s.Turn == nil && len(s.Queue) == 0
}
