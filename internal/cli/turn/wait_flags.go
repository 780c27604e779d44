package turn

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/dialect"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// A WaitFlags is the part of a verb that sends a message and may wait for its turn.
type WaitFlags struct {
	Wait   bool
	Follow bool
	NoWait bool

	FailOnDenied bool
}

// AddFlags adds the flags to a verb.
func (w *WaitFlags) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&w.Wait, "wait", "w", false, "wait for the end of the turn")
	f.BoolVarP(&w.Follow, "follow", "f", false, "wait and print the answer")
	f.BoolVar(&w.NoWait, "no-wait", false, "do not wait for the end of the turn")
	AddDeniedFlag(cmd, &w.FailOnDenied)
}

// Check returns a usage error if the flags exclude each other.
func (w *WaitFlags) Check() error {
	if w.NoWait && (w.Wait || w.Follow) {
		return exit.Usagef("--no-wait excludes --wait and --follow")
	}
	return CheckDeniedFlag(w.FailOnDenied, w.Wait || w.Follow)
}

// errTurnEndsWithConnection is the error of --no-wait where the turn would not outlive the verb.
var errTurnEndsWithConnection = exit.Unsupportedf(
	"cannot send without waiting: a turn of this server ends with the connection that started it",
).WithHint("omit --no-wait, or send in: agentctl attach SESSION")

// Connect connects for as long as the verb waits. Where sessions end with their connection it
// follows the turn. done ends the connection.
func (w *WaitFlags) Connect(ctx context.Context, cli *verb.Context) (c *connection.Conn, done func(), err error) {
	policy := connection.OneShot
	if d, _ := dialect.Find(cli.Flags.Dialect); w.Wait || w.Follow || d.Ephemeral && !w.NoWait {
		policy = connection.Bounded
	}
	stop := func() {}
	if w.Follow {
		ctx, stop = verb.WhileRead(ctx, cli.Out.Stdout)
	}
	c, err = connection.OpenWith(ctx, cli, policy)
	if err != nil {
		stop()
		if errors.Is(err, wsclient.ErrEphemeral) {
			err = errTurnEndsWithConnection
		}
		return nil, nil, err
	}
	if c.Ephemeral() {
		w.Follow = w.Follow || !w.Wait
	}
	return c, func() { c.Close(); stop() }, nil
}

// Send sends the command, prints its result and waits for the turn.
func (w *WaitFlags) Send(cli *verb.Context, c *connection.Conn, verb protocol.Verb, session, key string, data any) error {
	res, err := connection.CallWithKey[protocol.SendResult](c, verb, session, key, data)
	if protocol.CodeOf(err) == protocol.CodeAgentFailed { // a dialect may answer with the end of the turn
		return exit.Errorf(exit.TurnFailed, protocol.CodeAgentFailed, "the turn failed: %w", err)
	}
	if err != nil {
		return err
	}
	if res.Reason != "" {
		cli.Out.Notef("queued first: %s", output.OneLine(res.Reason, 300))
	}
	if w.Follow && !cli.Out.JSON {
		switch {
		case res.Status == protocol.SendQueued && res.Reason == "":
			cli.Out.Notef("queued")
		case res.Status == protocol.SendSteering:
			cli.Out.Notef("into the current turn")
		}
	} else {
		err := cli.Out.Print(res, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", res.Status, res.MessageID) })
		if err != nil {
			return err
		}
	}
	if !w.Wait && !w.Follow {
		return nil
	}
	t := Tracker{CLI: cli, Message: res.MessageID, Turn: res.Turn, Print: w.Follow, FailOnDenied: w.FailOnDenied}
	return t.TrackUntilInterrupted(c, session, res.Seq)
}
