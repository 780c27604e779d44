package verb

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"agentctl/internal/exit"
	"agentctl/internal/output"
)

// ErrSignalled is the cause of a context that a signal ended.
var ErrSignalled = errors.New("ended by a signal")

// NotifySignal returns a context that ends on SIGTERM, SIGHUP and the signals in more, so that a
// verb can restore the terminal. stop must be called; it returns the signal as an error, or nil.
// Signals that were ignored when the process started stay ignored.
func NotifySignal(ctx context.Context, more ...os.Signal) (_ context.Context, stop func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	wanted := slices.DeleteFunc(append(more, syscall.SIGTERM, syscall.SIGHUP), signal.Ignored)
	received := make(chan os.Signal, 1)
	if len(wanted) > 0 { // Notify with no signals means all
		signal.Notify(received, wanted...)
	}
	var first os.Signal
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case first = <-received:
			cancel(ErrSignalled)
		case <-ctx.Done():
		}
	})
	return ctx, func() error {
		signal.Stop(received) // a signal received before is in the channel now
		cancel(context.Canceled)
		waiting.Wait()
		select {
		case s := <-received:
			if first == nil {
				first = s
			}
		default:
		}
		if first == nil {
			return nil
		}
		return signalError(first)
	}
}

// signalError returns the error of a verb that a signal ended.
func signalError(by os.Signal) error {
	if n, ok := by.(syscall.Signal); ok && n != syscall.SIGINT {
		return exit.Errorf(exit.Signal+int(n), exit.CodeInterrupted, "ended by signal: %s", by)
	}
	return exit.Errorf(exit.Interrupted, exit.CodeInterrupted, "ended by signal: %s", by)
}

// LeaveCause returns the error of a screen, or the cause of the end of ctx.
func LeaveCause(ctx context.Context, err error) error {
	if err == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// exitPipe is the exit code of a program whose output is not read any more, as shells report it.
const exitPipe = 128 + 13

// WhileRead returns a context that ends when stdout is not read any more, for verbs that may have
// nothing to write for long. stop waits for its goroutine.
func WhileRead(ctx context.Context, stdout io.Writer) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		if output.WaitHangup(ctx, stdout) {
			cancel(exit.Silent(exitPipe))
		}
	})
	return ctx, func() {
		cancel(context.Canceled)
		wg.Wait()
	}
}
