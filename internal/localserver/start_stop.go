package localserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"agentctl/internal/exit"
)

// Times of a background server.
const (
	StartTimeout = 15 * time.Second      // for a background server to answer
	PollInterval = 20 * time.Millisecond // between checks of whether a server answers or has ended

	idleExit = 10 * time.Minute // a background server without active sessions and clients exits after it
)

// serverLog is the log of a background server, and its standard error.
const serverLog = "server.log"

// EnsureRunning returns when the local server answers; it starts one in the background if none runs
// and start is set. Of several processes that start a server at the same time, one gets the lock
// and the others connect to its server.
func (d Dir) EnsureRunning(ctx context.Context, start bool) error {
	if d.Answers(ctx) {
		return nil
	}
	if errors.Is(context.Cause(ctx), exit.ErrTimeout) {
		return exit.ErrTimeout
	}
	if !start {
		if pid := d.Holder(); pid != 0 {
			return d.silent(pid)
		}
		return exit.Unreachablef("no server runs on %s", d).WithHint("%s", exit.HintFor(exit.CodeUnreachable))
	}
	if !Supported {
		return exit.Unreachablef("no server runs on %s", d).
			WithHint("pass --server: this system cannot run a server yet")
	}
	if err := d.Create(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, StartTimeout,
		fmt.Errorf("the server did not answer within %s", StartTimeout))
	defer cancel()
	return d.start(ctx)
}

// silent returns the error of a server that runs and does not answer, as one whose socket a program
// that cleans up has removed.
func (d Dir) silent(pid int) error {
	return exit.Unreachablef("the server with pid %d does not answer on %s", pid, d.Socket()).
		WithHint("unless it has just started, stop it and try again: agentctl stop")
}

// start starts a server and waits until one answers. It starts another only if the first found the
// directory locked and then the lock was released.
func (d Dir) start(ctx context.Context) error {
	var child *backgroundServer
	defer func() {
		if child != nil {
			child.detach(d.Holder())
		}
	}()
	tick := time.NewTicker(PollInterval)
	defer tick.Stop()
	for {
		if child == nil && d.Holder() == 0 {
			var err error
			if child, err = d.spawn(); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), exit.ErrTimeout) {
				return exit.ErrTimeout
			}
			if pid := d.Holder(); pid != 0 {
				return d.silent(pid)
			}
			return exit.Unreachablef("%w", context.Cause(ctx)).WithHint("see the log: %s", d.Path(serverLog))
		case <-tick.C:
		case <-child.ended():
			foundLocked := child.foundLocked()
			err := child.failure()
			child = nil
			if !foundLocked {
				return err
			}
		}
		if d.Answers(ctx) {
			return nil
		}
	}
}

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
