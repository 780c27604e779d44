package localserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// stopTimeout bounds how long a server may take to drain.
const stopTimeout = 30 * time.Second

// Stop stops the server with process id pid, as Holder returned it, and waits until the directory
// is free.
func (d Dir) Stop(ctx context.Context, pid int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stopTimeout,
		fmt.Errorf("the server did not end within %s", stopTimeout))
	defer cancel()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(syscall.SIGTERM)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the server with pid %d: %w", pid, err)
	}
	return d.WaitReleased(ctx, pid)
}

// WaitReleased waits until the process pid does not hold the directory.
func (d Dir) WaitReleased(ctx context.Context, pid int) error {
	tick := time.NewTicker(PollInterval)
	defer tick.Stop()
	for d.Holder() == pid {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}
