//go:build unix

package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"sync"
	"syscall"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// A Terminal is a pseudo terminal with one program, the leader of a session.
type Terminal struct {
	Cmd *exec.Cmd // ProcessState is set after Wait

	controller *os.File // controlling end
	tty        *os.File // program's end, kept to read its settings
	before     *term.State
	after      *term.State   // settings after the program's exit
	readDone   chan struct{} // closed at the end of the output

	mu      sync.Mutex
	output  []byte
	changed chan struct{} // closed and replaced when output grows
}

// Start runs a program on a terminal of that size. The program's stderr is the terminal too, unless
// cmd sets it.
func Start(cmd *exec.Cmd, columns, rows int) (*Terminal, error) {
	controller, tty, err := openPTY()
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	t := &Terminal{
		Cmd:        cmd,
		controller: controller,
		tty:        tty,
		readDone:   make(chan struct{}),
		changed:    make(chan struct{}),
	}
	if err := t.start(columns, rows); err != nil {
		return nil, errors.Join(err, controller.Close(), tty.Close())
	}
	go t.readOutput()
	return t, nil
}

// openPTY opens both ends. Closing the controller interrupts a read.
func openPTY() (controller, tty *os.File, err error) {
	blocking, tty, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer blocking.Close()
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return nil, nil, errors.Join(err, tty.Close())
	}
	return os.NewFile(uintptr(fd), blocking.Name()), tty, nil
}

func (t *Terminal) start(columns, rows int) (err error) {
	if err := t.Resize(columns, rows); err != nil {
		return err
	}
	if t.before, err = term.GetState(t.tty.Fd()); err != nil {
		return fmt.Errorf("terminal settings: %w", err)
	}
	t.Cmd.Stdin, t.Cmd.Stdout = t.tty, t.tty
	if t.Cmd.Stderr == nil {
		t.Cmd.Stderr = t.tty
	}
	t.Cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := t.Cmd.Start(); err != nil {
		return fmt.Errorf("start the program: %w", err)
	}
	return nil
}

// readOutput records the program's output until the terminal is closed.
func (t *Terminal) readOutput() {
	defer close(t.readDone)
	b := make([]byte, 32<<10)
	for {
		n, err := t.controller.Read(b)
		t.mu.Lock()
		t.output = append(t.output, b[:n]...)
		close(t.changed)
		t.changed = make(chan struct{})
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Resize changes the size. The system notifies the program.
func (t *Terminal) Resize(columns, rows int) error {
	conn, err := t.controller.SyscallConn()
	if err != nil {
		return fmt.Errorf("resize the terminal: %w", err)
	}
	var refused error
	size := &unix.Winsize{Col: uint16(columns), Row: uint16(rows)}
	err = conn.Control(func(fd uintptr) { refused = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) })
	if err = errors.Join(err, refused); err != nil {
		return fmt.Errorf("resize the terminal: %w", err)
	}
	return nil
}

// Type writes keys as bytes.
func (t *Terminal) Type(keys string) error {
	if _, err := io.WriteString(t.controller, keys); err != nil {
		return fmt.Errorf("type %q: %w", keys, err)
	}
	return nil
}

// Len returns the number of bytes written by the program.
func (t *Terminal) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.output)
}

// OutputSince returns a copy of the output after the first n bytes.
func (t *Terminal) OutputSince(n int) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.output[n:])
}

// WaitFor waits until the output after the first since bytes satisfies the condition.
func (t *Terminal) WaitFor(ctx context.Context, since int, condition func([]byte) bool) error {
	for {
		t.mu.Lock()
		output, changed := t.output[since:], t.changed
		done := condition(output)
		t.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%w; the program wrote %q", ctx.Err(), tail(output))
		}
	}
}

// tail returns the end of an output.
func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

// Wait waits for the program's exit and all of its output. Call it once. Cmd.ProcessState then
// holds the exit status.
func (t *Terminal) Wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = t.Cmd.Process.Kill() })
	defer stop()
	err := t.Cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("wait for the program: %w", err)
	}
	if t.after, err = term.GetState(t.tty.Fd()); err != nil {
		return fmt.Errorf("terminal settings: %w", err)
	}
	_ = t.tty.Close() // ends reading after the remaining output
	select {
	case <-t.readDone:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: the program did not end; it wrote %q", ctx.Err(), tail(t.OutputSince(0)))
	}
	return nil
}

// SettingsRestored reports whether the exited program restored the terminal's settings.
func (t *Terminal) SettingsRestored() bool { return reflect.DeepEqual(t.before, t.after) }

// HangUp closes the controlling end, like a lost connection. The system notifies the program.
func (t *Terminal) HangUp() error {
	err := t.controller.Close()
	<-t.readDone
	if err != nil {
		return fmt.Errorf("close the terminal: %w", err)
	}
	return nil
}

// Close kills the program if it still runs and closes the terminal.
func (t *Terminal) Close() {
	if t.Cmd.ProcessState == nil {
		_ = t.Cmd.Process.Kill()
		_ = t.Cmd.Wait()
	}
	_ = t.tty.Close()
	_ = t.controller.Close()
	<-t.readDone
}
