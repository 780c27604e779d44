package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type stopOptions struct{ app *app }

func newStop(a *app, run func(context.Context, *stopOptions) error) *cobra.Command {
	o := &stopOptions{app: a}
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop the local server",
		Long: `Stop the server of the data directory and wait until it has ended. Running turns are
ended; sessions, queues and transcripts are there when it starts again. It is no error if no server
runs.`,
		Example: "  agentctl stop",
		Args:    rangeArgs(0, 0),
		RunE:    runE(a, o, nil, run),
	}
}

func runStop(ctx context.Context, o *stopOptions) error {
	dir, err := o.app.dataDir()
	if err != nil {
		return err
	}
	result := struct {
		Stopped bool `json:"stopped"`
		PID     int  `json:"pid,omitempty"`
	}{PID: dir.Holder()}
	if result.PID != 0 {
		if err := o.requireUser(ctx); err != nil {
			return err
		}
		result.Stopped = true
		if err := dir.Stop(ctx, result.PID); err != nil {
			return err
		}
	}
	return o.app.print(result, func(w io.Writer) {
		if result.Stopped {
			fmt.Fprintf(w, "stopped the server with pid %d\n", result.PID)
		} else {
			fmt.Fprintf(w, "no server runs on %s\n", dir)
		}
	})
}

// requireUser returns an error if the server knows this process as started by an agent. A server
// that does not answer is stopped all the same.
func (o *stopOptions) requireUser(ctx context.Context) error {
	o.app.flags.Server, o.app.flags.Dialect, o.app.flags.NoStart = "", "", true
	c, err := o.app.connect(ctx)
	if err != nil {
		return nil //nolint:nilerr // it may hang
	}
	defer c.Close()
	if hello := c.Hello(); hello.Role == protocol.RoleAgent {
		return protocol.Errorf(protocol.CodeForbidden, "an agent may not stop the server: a user does")
	}
	return nil
}
