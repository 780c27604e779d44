package turn

import (
	"context"
	"errors"
	"os"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

// TrackUntilInterrupted is track until a signal or --timeout ends the waiting. Then the error says
// that the turn continues, and how to come back.
func (t *Tracker) TrackUntilInterrupted(c *connection.Conn, session string, seq uint64) error {
	ctx, stop := verb.NotifySignal(c.Context(), os.Interrupt)
	unhook := context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), verb.ErrSignalled) {
			c.Abort(verb.ErrSignalled)
		}
	})
	err := t.Track(c, session, seq)
	unhook()
	var e, result *exit.Error
	switch signalled := stop(); {
	case signalled != nil && !errors.As(signalled, &e):
		return signalled
	case signalled != nil:
	case err == nil || errors.As(err, &result) || !errors.Is(context.Cause(c.Context()), exit.ErrTimeout):
		return err
	default:
		e = exit.Errorf(exit.Timeout, protocol.CodeTimeout, "%w", exit.ErrTimeout)
	}
	if c.Ephemeral() {
		return e
	}
	again := "--turn " + t.Turn
	if t.Message != "" {
		again = "--message " + t.Message
	}
	return e.WithHint("the turn continues; agentctl wait %[1]s %[2]s, or agentctl attach %[1]s", session, again)
}
