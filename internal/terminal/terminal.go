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

// A Terminal is a pseudo terminal with one program on it, which leads a session of its own.
type Terminal struct {
	Cmd *exec.Cmd // its state is set once Wait returned

	screen *os.File // our end
	line   *os.File // the program's end, kept to look at its settings
	before *term.State
	after  *term.State   // once the program is over
	read   chan struct{} // closed when nothing more comes

	mu   sync.Mutex
	said []byte
	more chan struct{} // closed when more was said
}

// Start runs a program on a terminal of that size. What it writes to stderr stays there, unless cmd says where it goes.
func Start(cmd *exec.Cmd, columns, rows int) (*Terminal, error) {
	screen, line, err := open()
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	t := &Terminal{Cmd: cmd, screen: screen, line: line, read: make(chan struct{}), more: make(chan struct{})}
	if err := t.start(columns, rows); err != nil {
		return nil, errors.Join(err, screen.Close(), line.Close())
	}
	go t.listen()
	return t, nil
}

// open opens both ends. Ours is one whose reading ends when it is closed.
func open() (screen, line *os.File, err error) {
	blocking, line, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer blocking.Close()
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return nil, nil, errors.Join(err, line.Close())
	}
	return os.NewFile(uintptr(fd), blocking.Name()), line, nil
}

func (t *Terminal) start(columns, rows int) (err error) {
	if err := t.Resize(columns, rows); err != nil {
		return err
	}
	if t.before, err = term.GetState(t.line.Fd()); err != nil {
		return fmt.Errorf("terminal settings: %w", err)
	}
	t.Cmd.Stdin, t.Cmd.Stdout = t.line, t.line
	if t.Cmd.Stderr == nil {
		t.Cmd.Stderr = t.line
	}
	t.Cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := t.Cmd.Start(); err != nil {
		return fmt.Errorf("start the program: %w", err)
	}
	return nil
}

// listen takes what the program says, until the terminal is closed.
func (t *Terminal) listen() {
	defer close(t.read)
	b := make([]byte, 32<<10)
	for {
		n, err := t.screen.Read(b)
		t.mu.Lock()
		t.said = append(t.said, b[:n]...)
		close(t.more)
		t.more = make(chan struct{})
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Resize changes the size; the program is told by the system.
func (t *Terminal) Resize(columns, rows int) error {
	conn, err := t.screen.SyscallConn()
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

// Type sends keys, as bytes.
func (t *Terminal) Type(keys string) error {
	if _, err := io.WriteString(t.screen, keys); err != nil {
		return fmt.Errorf("type %q: %w", keys, err)
	}
	return nil
}

// Len is how many bytes the program wrote.
func (t *Terminal) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.said)
}

// OutputSince is what the program wrote after so many bytes.
func (t *Terminal) OutputSince(n int) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.said[n:])
}

// WaitFor waits until what the program wrote after so many bytes satisfies a condition.
func (t *Terminal) WaitFor(ctx context.Context, since int, enough func([]byte) bool) error {
	for {
		t.mu.Lock()
		said, more := t.said[since:], t.more
		done := enough(said)
		t.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("%w; the program wrote %q", ctx.Err(), tail(said))
		}
	}
}

// tail is how an output ends.
func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

// Wait waits for the program and for all that it wrote; it may be called once. How the program ended its state tells.
func (t *Terminal) Wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = t.Cmd.Process.Kill() })
	defer stop()
	err := t.Cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("wait for the program: %w", err)
	}
	if t.after, err = term.GetState(t.line.Fd()); err != nil {
		return fmt.Errorf("terminal settings: %w", err)
	}
	_ = t.line.Close() // then reading ends, after what is still there
	select {
	case <-t.read:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: the program did not end; it wrote %q", ctx.Err(), tail(t.OutputSince(0)))
	}
	return nil
}

// SettingsRestored tells whether the program, which is over, left the terminal's own settings as they were.
func (t *Terminal) SettingsRestored() bool { return reflect.DeepEqual(t.before, t.after) }

// HangUp closes our end, as when a connection is lost. The program is told by the system.
func (t *Terminal) HangUp() error {
	err := t.screen.Close()
	<-t.read
	if err != nil {
		return fmt.Errorf("close the terminal: %w", err)
	}
	return nil
}

// Close ends the program, if it still runs, and gives the terminal up.
func (t *Terminal) Close() {
	if t.Cmd.ProcessState == nil {
		_ = t.Cmd.Process.Kill()
		_ = t.Cmd.Wait()
	}
	_ = t.line.Close()
	_ = t.screen.Close()
	<-t.read
}
