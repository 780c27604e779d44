package ssh

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// Greeting is the line that "agentctl connect" prints when it is connected. Output before it,
	// such as from a shell's start files, is skipped.
	Greeting = "agentctl: connected"

	maxBeforeGreeting = 64 << 10 // bytes
	maxErrorOutput    = 8 << 10  // bytes of ssh's standard error that are kept
	connectTimeout    = 15       // seconds for ssh's TCP connection
	shareTime         = "10m"    // that a shared link stays open without a connection
	waitDelay         = time.Second

	// MaxShareDir is the longest path of Dialer.ShareDir in bytes: with the names of its sockets,
	// it is shorter than the longest path of a Unix socket (darwin: 104).
	MaxShareDir = 104 - len("/") - 40 - len(".0123456789abcdef") - 1
)

// A Dialer opens connections to the server of a target.
type Dialer struct {
	Target  Target
	Program string   // path or name of ssh; "": ssh
	Command string   // agentctl on the target, for its shell; "": agentctl
	Args    []string // further arguments of "agentctl connect"

	// ShareDir is the directory of the sockets of shared links, which only this user may enter. "":
	// links are not shared.
	ShareDir string
}

// Dial opens a connection. With prompt, ssh may ask at the terminal for a password or the trust in
// a host; otherwise it fails instead. Closing the connection stops its process.
func (d *Dialer) Dial(ctx context.Context, prompt bool) (net.Conn, error) {
	c, err := d.start(prompt)
	if err != nil {
		return nil, fmt.Errorf("ssh %s: %w", d.Target, err)
	}
	stop := context.AfterFunc(ctx, c.kill)
	err = c.readGreeting()
	if !stop() {
		_ = c.Close()
		return nil, fmt.Errorf("ssh %s: %w", d.Target, context.Cause(ctx))
	}
	if err != nil {
		err = fmt.Errorf("ssh %s: %w", d.Target, c.explain(err)) // before Close, which kills ssh
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// start starts ssh.
func (d *Dialer) start(prompt bool) (*conn, error) {
	program := d.Program
	if program == "" {
		program = "ssh"
	}
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), in.Close())
	}
	c := &conn{in: in, out: out, reader: bufio.NewReaderSize(out, 64<<10), target: d.Target}
	c.waited = make(chan struct{})
	c.cmd = exec.Command(program, d.args(prompt)...) //nolint:noctx // kill ends it
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = childIn, childOut, &c.errors
	c.cmd.WaitDelay = waitDelay
	if !prompt {
		c.cmd.SysProcAttr = withoutTerminal()
	}
	err = c.cmd.Start()
	err = errors.Join(err, childIn.Close(), childOut.Close())
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	go func() {
		defer close(c.waited)
		c.exit = c.cmd.Wait()
	}()
	return c, nil
}

// args returns the arguments of ssh.
func (d *Dialer) args(prompt bool) []string {
	args := []string{"-T", "-o", "ConnectTimeout=" + strconv.Itoa(connectTimeout), "-o", "ServerAliveInterval=15"}
	if !prompt {
		args = append(args, "-o", "BatchMode=yes")
	}
	if d.ShareDir != "" {
		args = append(args, "-o", "ControlMaster=auto", "-o", "ControlPersist="+shareTime,
			"-o", "ControlPath="+filepath.Join(strings.ReplaceAll(d.ShareDir, "%", "%%"), "%C"))
	}
	if d.Target.Port != 0 {
		args = append(args, "-p", strconv.Itoa(d.Target.Port))
	}
	if d.Target.User != "" {
		args = append(args, "-l", d.Target.User)
	}
	command := d.Command
	if command == "" {
		command = "agentctl"
	}
	return append(args, "--", d.Target.Host, strings.Join(append([]string{command, "connect"}, d.Args...), " "))
}

// readGreeting reads up to the end of the greeting.
func (c *conn) readGreeting() error {
	for read := 0; read <= maxBeforeGreeting; {
		line, err := c.reader.ReadSlice('\n')
		read += len(line)
		if strings.TrimRight(string(line), "\r\n") == Greeting {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
	return errors.New("the shell there prints too much before agentctl starts")
}

// noServerStatus is the exit code of agentctl connect when it reaches no server.
const noServerStatus = 8

// A NoServerError is the error of a machine where agentctl runs and reached no server.
type NoServerError struct{ said string }

// Error returns agentctl's message from there.
func (e *NoServerError) Error() string { return e.said }

// explain returns why there was no greeting: the end of ssh, or err.
func (c *conn) explain(err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	select {
	case <-c.waited:
	case <-time.After(waitDelay):
		return err
	}
	said := reason(c.errors.String())
	var exited *exec.ExitError
	switch {
	case !errors.As(c.exit, &exited):
	case exited.ExitCode() == 127:
		return fmt.Errorf("agentctl is not in the PATH of commands there: install it, or name it with %q in the "+
			"configuration's servers: %s", "command", said)
	case strings.Contains(said, `unknown command "connect"`):
		return errors.New("agentctl there is too old: it has no connect; install a newer one there")
	case exited.ExitCode() == noServerStatus && said != "":
		return &NoServerError{said}
	}
	if said == "" {
		return fmt.Errorf("ssh ended before agentctl answered: %w", errors.Join(c.exit, err))
	}
	return errors.New(said)
}

// reason returns the last error of agentctl in the output of ssh, without its hint, which is for
// users there; else the last line.
func reason(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range slices.Backward(lines) {
		if found, ok := strings.CutPrefix(strings.TrimSpace(line), "agentctl: "); ok {
			return found
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
