package steer

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/turn"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/wsclient"
)

type waitOptions struct {
	verb.Options

	Session string
	For     string
	Message string
	Turn    string

	FailOnDenied bool

	changed func(flag string) bool // reports whether a flag was passed
}

var waitVerb = verb.Verb{
	Use:   "wait SESSION",
	Short: "Wait for a session",
	Long: `Wait until a session is idle (no turn, and an empty queue), has a pending approval, ends its next
turn, or has ended the turn of --message or --turn. It exits 6 if the session needs a person first.
For a turn, and for idle after a turn, the exit code is its result: 0 completed, 7 failed or ended by
a denial, 130 interrupted. With -o json, --message and --turn print an object of type outcome. See
docs/scripts.md.`,
	Example: "  agentctl wait fix --for idle --timeout 10m\n" +
		"  agentctl wait fix --for approval && agentctl approvals fix",
	Group: verb.GroupSteer, Reads: true, Sends: protocol.DoSubscribe,
	Trial:    "fix",
	Complete: completion.Sessions,

	Do: &verb.Steps[waitOptions]{
		Flags: func(o *waitOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			o.changed = f.Changed
			f.StringVar(&o.For, "for", turn.ForIdle, "`EVENT`: idle, approval or turn")
			f.StringVar(&o.Message, "message", "", "wait for the turn of the message `ID`")
			f.StringVar(&o.Turn, "turn", "", "wait for the turn `ID`")
			turn.AddDeniedFlag(cmd, &o.FailOnDenied)
			verb.RequireValues(f, "message", "turn")
			verb.CompleteValues(cmd, "for", []string{turn.ForIdle, turn.ForApproval, turn.ForTurn})
			_ = cmd.RegisterFlagCompletionFunc("message", completion.InSession(completion.Unfinished)(o.CLI))
			_ = cmd.RegisterFlagCompletionFunc("turn", completion.InSession(completion.Turns)(o.CLI))
		},
		Read: func(o *waitOptions, args []string) error {
			o.Session = args[0]
			if o.Message != "" && o.Turn != "" || (o.Message != "" || o.Turn != "") && o.changed("for") {
				return exit.Usagef("--for, --message and --turn exclude each other")
			}
			switch o.For {
			case turn.ForIdle, turn.ForApproval, turn.ForTurn:
				return nil
			}
			return exit.Usagef("invalid --for %q: want idle, approval or turn", o.For)
		},
		Run: runWait,
	},
}

func runWait(ctx context.Context, o *waitOptions) error {
	policy := connection.OneShot
	if o.Message != "" || o.Turn != "" {
		policy = connection.Bounded
	}
	c, err := connection.OpenWith(ctx, o.CLI, policy)
	if err != nil {
		return err
	}
	defer c.Close()
	if o.Message != "" || o.Turn != "" {
		t := turn.Tracker{CLI: o.CLI, Message: o.Message, Turn: o.Turn, MustExist: true, FailOnDenied: o.FailOnDenied}
		return t.TrackUntilInterrupted(c, o.Session, 0)
	}
	sub := c.Subscribe(o.Session, wsclient.SubscribeOptions{})
	defer sub.Close()
	w := turn.Waiter{Condition: o.For}
	for item, err := range sub.Events(c.Context()) {
		if err != nil {
			return c.Cause(err)
		}
		done, err := w.Apply(&item)
		if err != nil {
			return err
		}
		if done {
			return o.print(c, &w)
		}
	}
	return c.Cause(fmt.Errorf("wait for %s of %s: %w", o.For, o.Session, context.Cause(c.Context())))
}

// print prints the result. For a turn it returns the error of the turn's end.
func (o *waitOptions) print(c *connection.Conn, w *turn.Waiter) error {
	result := struct {
		Session string             `json:"session"`
		For     string             `json:"for"`
		Status  protocol.Status    `json:"status"`
		Turn    *protocol.LastTurn `json:"turn,omitempty"`
		Request string             `json:"request,omitempty"`
		Denied  []protocol.Denial  `json:"denied,omitempty"` // in the turn that decides the exit code
	}{w.State.Session, o.For, w.State.Status(), w.Ended, "", nil}
	if o.For == turn.ForIdle {
		w.Ended = w.State.Last
	}
	if o.For == turn.ForApproval {
		result.Request = w.State.Approvals[0].Request
	}
	var err error
	if w.Ended != nil {
		result.Denied, err = turn.DeniedIn(c, w.State.Session, w.Ended.Turn)
		if err != nil && o.FailOnDenied { // else the result is only shorter, as at a dialect without a history
			return err
		}
	}
	err = o.CLI.Out.Print(result, func(out io.Writer) {
		switch {
		case result.Turn != nil && o.For == turn.ForTurn:
			fmt.Fprintf(out, "%s %s\n", result.Turn.Turn, result.Turn.Reason)
		case result.Request != "":
			fmt.Fprintln(out, output.Approval(&w.State.Approvals[0]))
		default:
			fmt.Fprintln(out, result.Status)
		}
	})
	if err == nil && w.Ended != nil {
		end := &protocol.TurnEndedData{Reason: w.Ended.Reason, Code: w.Ended.Code, Message: w.Ended.Message}
		return turn.Result(o.CLI.Out, end, result.Denied, o.FailOnDenied)
	}
	return err
}
