package shell

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"time"
	"unicode/utf8"
)

// MaxOutput is the number of bytes kept of the output of a command.
const MaxOutput = 64 << 10

// grace is the time between the request to end and the kill, and the time for the rest of the
// output after the end.
const grace = 2 * time.Second

// Command is a command that was started. Its methods are safe for concurrent use.
type Command struct {
	cmd    *exec.Cmd
	cancel context.CancelFunc
	done   chan struct{} // closed at the end

	mu       sync.Mutex
	unread   []byte
	accepted int // bytes of output kept so far
	dropped  int // bytes of output beyond MaxOutput
	err      error
}

// Start starts a command in a directory, in a new process group and without input. The end
// of ctx stops it.
func Start(ctx context.Context, command, dir string) (*Command, error) {
	ctx, cancel := context.WithCancel(ctx)
	name, args := interpreter(command)
	c := &Command{cmd: exec.CommandContext(ctx, name, args...), cancel: cancel, done: make(chan struct{})}
	c.cmd.Dir, c.cmd.SysProcAttr, c.cmd.WaitDelay = dir, ownGroup(), grace
	c.cmd.Stdout, c.cmd.Stderr = output{c}, output{c}
	c.cmd.Cancel = func() error { return terminateGroup(c.cmd.Process) }
	if err := c.cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("run shell command: %w", err)
	}
	go c.wait(ctx)
	return c, nil
}

// interpreter returns the program that runs a command, and its arguments.
func interpreter(command string) (name string, args []string) {
	if runtime.GOOS == "windows" {
		return "cmd", []string{"/C", command}
	}
	return "sh", []string{"-c", command}
}

// wait waits for the end. Of a command that was stopped it kills what is left of the group.
func (c *Command) wait(ctx context.Context) {
	err := c.cmd.Wait()
	if ctx.Err() != nil {
		killGroup(c.cmd.Process)
	}
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	c.cancel()
	close(c.done)
}

// output is the writer of the command's output.
type output struct{ command *Command }

// Write keeps the first MaxOutput bytes.
func (o output) Write(b []byte) (int, error) {
	c := o.command
	c.mu.Lock()
	defer c.mu.Unlock()
	keep := min(len(b), MaxOutput-c.accepted)
	c.unread = append(c.unread, b[:keep]...)
	c.accepted += keep
	c.dropped += len(b) - keep
	return len(b), nil
}

// Read returns the output since the last call, in complete runes until the end.
func (c *Command) Read() string {
	ended := c.Ended()
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.unread)
	for cut := 1; !ended && cut < utf8.UTFMax && cut <= n; cut++ {
		if utf8.RuneStart(c.unread[n-cut]) {
			if !utf8.FullRune(c.unread[n-cut:]) {
				n -= cut
			}
			break
		}
	}
	text := string(c.unread[:n])
	c.unread = c.unread[n:]
	return text
}

// Dropped returns the number of bytes of output beyond MaxOutput.
func (c *Command) Dropped() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dropped
}

// Stop ends the command and all processes of its group.
func (c *Command) Stop() { c.cancel() }

// Done returns a channel that is closed when the command has ended.
func (c *Command) Done() <-chan struct{} { return c.done }

// Ended reports whether the command has ended.
func (c *Command) Ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Result returns how the command ended: "exit 0", "exit 2", a signal or an error.
func (c *Command) Result() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var exit *exec.ExitError
	switch {
	case c.err == nil || errors.Is(c.err, exec.ErrWaitDelay):
		return "exit 0"
	case errors.As(c.err, &exit) && exit.Exited():
		return fmt.Sprintf("exit %d", exit.ExitCode())
	}
	return c.err.Error()
}
