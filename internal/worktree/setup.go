package worktree

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// setupGrace is the time for the end of the output after the end of a set-up command.
const setupGrace = 2 * time.Second

// Setup runs a command in the worktree, without a shell and without input. Its output goes to w,
// and the last line into an error.
func (w *Worktree) Setup(ctx context.Context, command []string, out io.Writer) error {
	if w.Ready {
		return nil
	}
	if len(command) > 0 {
		last := new(lastLine)
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Dir, cmd.WaitDelay = w.Dir, setupGrace
		cmd.Stdout = io.MultiWriter(out, last)
		cmd.Stderr = cmd.Stdout
		if err := cmd.Run(); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			if last.text() != "" {
				return fmt.Errorf("set-up %q: %w: %s", strings.Join(command, " "), err, last.text())
			}
			return fmt.Errorf("set-up %q: %w", strings.Join(command, " "), err)
		}
	}
	return w.MarkReady(ctx)
}

// lastLine keeps the end of the output.
type lastLine struct{ end []byte }

const maxLastLine = 512 // bytes

func (l *lastLine) Write(b []byte) (int, error) {
	l.end = append(l.end, b...)
	if over := len(l.end) - maxLastLine; over > 0 {
		l.end = bytes.Clone(l.end[over:])
	}
	return len(b), nil
}

func (l *lastLine) text() string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(l.end), "")), "\n")
	return lines[len(lines)-1]
}

// MarkReady records that the set-up is complete, and what it made.
func (w *Worktree) MarkReady(ctx context.Context) (err error) {
	w.Ready = true
	if w.Prepared, err = w.ignored(ctx); err != nil {
		return err
	}
	return w.save(ctx)
}
