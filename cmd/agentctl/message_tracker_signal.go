package main

import (
	"context"
	"errors"
	"os"

	"agentctl/internal/exit"
)

// trackUntilInterrupted is track until a signal ends the program. Then the error says that the turn
// goes on, and how to come back.
func (t *messageTracker) trackUntilInterrupted(c *connection, session string, seq uint64) error {
	ctx, stop := notifySignal(c.ctx, os.Interrupt)
	unhook := context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), errSignalled) {
			c.cancel(errSignalled)
		}
	})
	err := t.track(c, session, seq)
	unhook()
	signalled := stop()
	if signalled == nil {
		return err
	}
	var e *exit.Error
	if !errors.As(signalled, &e) || c.Ephemeral() {
		return signalled
	}
	again := "--turn " + t.turn
	if t.message != "" {
		again = "--message " + t.message
	}
	return e.WithHint("the turn goes on; agentctl wait %[1]s %[2]s, or agentctl attach %[1]s", session, again)
}
