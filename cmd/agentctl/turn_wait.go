package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/dialect"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// A turnWait is the part of a verb that sends a message and may wait for its turn.
type turnWait struct {
	Wait   bool
	Follow bool
	NoWait bool
}

func (w *turnWait) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&w.Wait, "wait", "w", false, "wait for the end of the turn")
	f.BoolVarP(&w.Follow, "follow", "f", false, "wait and print the answer")
	f.BoolVar(&w.NoWait, "no-wait", false, "do not wait for the end of the turn")
}

func (w *turnWait) check() error {
	if w.NoWait && (w.Wait || w.Follow) {
		return exit.Usagef("--no-wait excludes --wait and --follow")
	}
	return nil
}

// errTurnEndsWithConnection is the error of --no-wait where the turn would not outlive the verb.
var errTurnEndsWithConnection = exit.Unsupportedf(
	"cannot send without waiting: a turn of this server ends with the connection that started it",
).WithHint("omit --no-wait, or send in: agentctl attach SESSION")

// connect connects for as long as the verb waits. Where sessions end with their connection it
// follows the turn. done ends the connection.
func (w *turnWait) connect(ctx context.Context, a *app) (c *connection, done func(), err error) {
	policy := oneShot
	if d, _ := dialect.Find(a.flags.Dialect); w.Wait || w.Follow || d.Ephemeral && !w.NoWait {
		policy = bounded
	}
	stop := func() {}
	if w.Follow {
		ctx, stop = a.whileRead(ctx)
	}
	c, err = a.connectWith(ctx, policy)
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

// send sends the command, prints its result and waits for the turn.
func (w *turnWait) send(a *app, c *connection, verb protocol.Verb, session, key string, data any) error {
	res, err := callWithKey[protocol.SendResult](c, verb, session, key, data)
	if protocol.CodeOf(err) == protocol.CodeAgentFailed { // a dialect may answer with the end of the turn
		return exit.Errorf(exit.TurnFailed, protocol.CodeAgentFailed, "the turn failed: %w", err)
	}
	if err != nil {
		return err
	}
	if w.Follow && !a.json() {
		if res.Status == protocol.SendQueued {
			a.notef("queued")
		}
	} else {
		err := a.print(res, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", res.Status, res.MessageID) })
		if err != nil {
			return err
		}
	}
	if !w.Wait && !w.Follow {
		return nil
	}
	t := messageTracker{app: a, message: res.MessageID, turn: res.Turn, print: w.Follow}
	return t.trackUntilInterrupted(c, session, res.Seq)
}
