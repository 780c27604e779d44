package task

import "context"

// Wait waits until c is closed or ctx ends; a nil c is closed. It reports whether ctx goes on.
func Wait(ctx context.Context, c <-chan struct{}) bool {
	if c != nil {
		select {
		case <-c:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}
