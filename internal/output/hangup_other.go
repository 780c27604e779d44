//go:build !unix

package output

import "context"

// WaitHangup waits for the end of ctx: this system does not tell that a reader is gone.
func WaitHangup(ctx context.Context, _ any) bool {
	<-ctx.Done()
	return false
}
