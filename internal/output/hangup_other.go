//go:build !unix

package output

import "context"

// WaitHangup waits for the end of ctx: this system does not report that a reader has closed.
func WaitHangup(ctx context.Context, _ any) bool {
	<-ctx.Done()
	return false
}
