//go:build documents && unix

package documents

import (
	"bytes"
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// A step of a dialog on a terminal: keys typed once text was shown.
type step struct{ shown, keys string }

// leave is how the screen is left.
const leave = "\x03\x03"

// onTerminal runs a line on a separate terminal. The result has everything shown as stdout.
func (m *machine) onTerminal(line string, steps []step) result {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := m.command(ctx, line)
	cmd.SysProcAttr = nil // pty makes a session, and so a process group
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	must(m.t, err)
	defer f.Close()
	shown := &screen{changed: make(chan struct{}, 1)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for b := make([]byte, 4096); ; {
			n, err := f.Read(b)
			shown.write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	for _, s := range steps {
		if !shown.waitFor(s.shown, ended) {
			m.t.Errorf("%s: %q was not shown in\n%q", line, s.shown, shown.text())
			break
		}
		_, err := f.WriteString(s.keys)
		must(m.t, err)
	}
	select {
	case <-ended:
	case <-time.After(limit):
		cancel()
	}
	return result{stdout: shown.text(), code: exitCode(cmd.Wait())}
}

// A screen collects the output of a program.
type screen struct {
	mu      sync.Mutex
	shown   bytes.Buffer
	seen    int // bytes up to the end of the last text waited for
	changed chan struct{}
}

func (s *screen) write(b []byte) {
	s.mu.Lock()
	s.shown.Write(b)
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// waitFor reports whether a text is shown after the last one.
func (s *screen) waitFor(text string, ended <-chan struct{}) bool {
	late := time.After(limit)
	for {
		s.mu.Lock()
		i := bytes.Index(s.shown.Bytes()[s.seen:], []byte(text))
		if i >= 0 {
			s.seen += i + len(text)
		}
		s.mu.Unlock()
		if i >= 0 {
			return true
		}
		select {
		case <-s.changed:
		case <-ended:
			return false
		case <-late:
			return false
		}
	}
}
