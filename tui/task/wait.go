package task

import "context"

// Wait waits until c is closed or ctx ends and reports whether ctx is still valid. A nil c does not
// wait.
func Wait(ctx context.Context, c <-chan struct{}) bool {
	if c != nil {
		select {
		case <-c:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}
