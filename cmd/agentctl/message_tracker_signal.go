package main

import (
	"context"
	"errors"
	"os"

	"agentctl/internal/exit"
	"agentctl/protocol"
)

// trackUntilInterrupted is track until a signal or --timeout ends the waiting. Then the error says
// that the turn goes on, and how to come back.
func (t *messageTracker) trackUntilInterrupted(c *connection, session string, seq uint64) error {
	ctx, stop := notifySignal(c.ctx, os.Interrupt)
	unhook := context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), errSignalled) {
			c.cancel(errSignalled)
		}
	})
	err := t.track(c, session, seq)
	unhook()
	var e, result *exit.Error
	switch signalled := stop(); {
	case signalled != nil && !errors.As(signalled, &e):
		return signalled
	case signalled != nil:
	case err == nil || errors.As(err, &result) || !errors.Is(context.Cause(c.ctx), exit.ErrTimeout):
		return err
	default:
		e = exit.Errorf(exit.Timeout, protocol.CodeTimeout, "%w", exit.ErrTimeout)
	}
	if c.Ephemeral() {
		return e
	}
	again := "--turn " + t.turn
	if t.message != "" {
		again = "--message " + t.message
	}
	return e.WithHint("the turn goes on; agentctl wait %[1]s %[2]s, or agentctl attach %[1]s", session, again)
}
