package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// stopPatience is how long a server may take to drain.
const stopPatience = 30 * time.Second

type stopOptions struct{ app *app }

func newStop(a *app, run func(context.Context, *stopOptions) error) *cobra.Command {
	o := &stopOptions{app: a}
	return &cobra.Command{
		Use:   "stop",
		Short: "End the local server",
		Long: `End the server that runs on the data directory and return when it has ended. Turns under way are cut; everything that was shown or
accepted is there when it starts again. It is no error when none runs.`,
		Example: "  agentctl stop",
		Args:    takes(0, 0),
		RunE:    does(a, o, nil, run),
	}
}

func runStop(ctx context.Context, o *stopOptions) error {
	dir, err := o.app.dataDir()
	if err != nil {
		return err
	}
	view := struct {
		Stopped bool `json:"stopped"`
		PID     int  `json:"pid,omitempty"`
	}{PID: dir.owner()}
	if view.PID != 0 {
		view.Stopped = true
		ctx, cancel := context.WithTimeoutCause(ctx, stopPatience, fmt.Errorf("the server did not end within %s", stopPatience))
		defer cancel()
		if err := dir.stop(ctx, view.PID); err != nil {
			return err
		}
	}
	return o.app.emit(view, func(w io.Writer) {
		if view.Stopped {
			fmt.Fprintf(w, "stopped the server with pid %d\n", view.PID)
		} else {
			fmt.Fprintf(w, "no server runs on %s\n", dir)
		}
	})
}

// stop asks the server to end and waits until it has.
func (d dataDir) stop(ctx context.Context, pid int) error {
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(syscall.SIGTERM)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the server with pid %d: %w", pid, err)
	}
	return d.gone(ctx, pid)
}

// gone waits until the server let go of the directory.
func (d dataDir) gone(ctx context.Context, pid int) error {
	tick := time.NewTicker(startPoll)
	defer tick.Stop()
	for d.owner() == pid {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}
