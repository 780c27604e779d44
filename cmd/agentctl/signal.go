package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

// exitSignal and a signal's number are the exit code of a screen that the signal ended, as a shell tells it.
const exitSignal = 128

// errSignal is the cause of a context that a signal ended.
var errSignal = errors.New("a signal came")

// untilSignal gives a context that ends when the process is told to end, or its terminal is gone: what is on the screen can then
// be left as it should. stop, which must be called, tells the signal as a fault; nil when none came. A signal that was ignored
// when the process started stays so.
func untilSignal(ctx context.Context, more ...os.Signal) (_ context.Context, stop func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	wanted := slices.DeleteFunc(append(more, syscall.SIGTERM, syscall.SIGHUP), signal.Ignored)
	came := make(chan os.Signal, 1)
	if len(wanted) > 0 { // of none it would be told all
		signal.Notify(came, wanted...)
	}
	var first os.Signal
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case first = <-came:
			cancel(errSignal)
		case <-ctx.Done():
		}
	})
	return ctx, func() error {
		signal.Stop(came) // what came before is in the channel now
		cancel(context.Canceled)
		waiting.Wait()
		select {
		case s := <-came:
			if first == nil {
				first = s
			}
		default:
		}
		if first == nil {
			return nil
		}
		return endedBy(first)
	}
}

// endedBy is the fault of what a signal ended.
func endedBy(by os.Signal) error {
	if n, ok := by.(syscall.Signal); ok && n != syscall.SIGINT {
		return faultf(exitSignal+int(n), codeInterrupted, "ended by a signal: %s", by)
	}
	return faultf(exitInterrupted, codeInterrupted, "ended by a signal: %s", by)
}
