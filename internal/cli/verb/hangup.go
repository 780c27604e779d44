package verb

import (
	"context"
	"sync"

	"agentctl/internal/exit"
	"agentctl/internal/output"
)

// exitPipe is the exit code of a program whose output is not read any more, as shells report it.
const exitPipe = 128 + 13

// WhileRead returns a context that ends when stdout is not read any more, for verbs that may have
// nothing to write for long. stop waits for its goroutine.
func (cli *Context) WhileRead(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		if output.WaitHangup(ctx, cli.Stdout) {
			cancel(exit.Silent(exitPipe))
		}
	})
	return ctx, func() {
		cancel(context.Canceled)
		wg.Wait()
	}
}
