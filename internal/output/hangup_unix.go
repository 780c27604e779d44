//go:build unix

package output

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// WaitHangup waits until no process reads the pipe or socket that stream writes to, and reports
// whether this happened before ctx ended. For any other stream it waits for ctx.
func WaitHangup(ctx context.Context, stream any) bool {
	f, ok := stream.(*os.File)
	if !ok || IsTerminal(stream) {
		<-ctx.Done()
		return false
	}
	ended, end, err := os.Pipe() // ends the poll with ctx
	if err != nil {
		<-ctx.Done()
		return false
	}
	defer ended.Close() //nolint:errcheck // nothing was written
	context.AfterFunc(ctx, func() { _ = end.Close() })
	fds := []unix.PollFd{
		{Fd: int32(f.Fd())},                          //nolint:gosec // descriptors are small
		{Fd: int32(ended.Fd()), Events: unix.POLLIN}, //nolint:gosec // descriptors are small
	}
	for ctx.Err() == nil {
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			<-ctx.Done()
		}
		if fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
			return ctx.Err() == nil
		}
		if fds[0].Revents != 0 { // a descriptor that cannot be polled
			fds[0].Fd = -1
		}
	}
	return false
}
