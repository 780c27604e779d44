package hook

import (
	"context"
	"io"
	"os"
	"time"

	"agentctl/server/agent/process"
)

// endGrace is the time for a command to end after each signal.
const endGrace = 300 * time.Millisecond

// inherited are the variables of the server that a command gets.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR",
	"DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
}

// A commander runs a command for each notification, with the notification on standard input.
type commander struct {
	args    []string
	timeout time.Duration
	env     []string
}

func newCommander(h *Hook) *commander {
	c := &commander{args: h.Command, timeout: h.Limits.Timeout, env: []string{"AGENTCTL_HOOK=" + h.Name}}
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			c.env = append(c.env, name+"="+v)
		}
	}
	return c
}

func (*commander) close() {}

// send implements sender. It kills the command's process group and descendants before it returns,
// and processes that have left both but hold its output. Others keep running.
func (c *commander) send(ctx context.Context, _ string, body []byte) error {
	p, err := process.Start(process.Command{Args: c.args, Dir: os.TempDir(), Env: c.env})
	if err != nil {
		return failf("%v", err)
	}
	defer p.Release()
	go func() {
		_, _ = p.Stdin.Write(body) // fails when the command does not read all of it
		_ = p.Stdin.Close()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, p.Stdout)
	}()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	select {
	case <-p.Done():
	case <-ctx.Done():
	}
	failed := ctx.Err() != nil
	p.End(endGrace)
	<-read
	if failed {
		return failf("the command did not end within %s", c.timeout)
	}
	if err := p.Err(); err != nil {
		return failf("the command failed: %v: %.200q", err, p.StderrTail())
	}
	return nil
}
