package localserver

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"agentctl/internal/exit"
)

// A backgroundServer is a server that this process started. It continues when this process exits.
type backgroundServer struct {
	cmd    *exec.Cmd
	log    *os.File
	offset int64         // of its output in the log
	exit   chan struct{} // closed when it has ended
	err    error         // of its end; read after exit
}

// spawn starts a server detached from this process and its terminal.
func (d Dir) spawn() (*backgroundServer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	log, err := os.OpenFile(d.Path(serverLog), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	b := &backgroundServer{log: log, exit: make(chan struct{})}
	b.offset, _ = log.Seek(0, io.SeekEnd)
	// Without a context: the server outlives this process.
	b.cmd = exec.Command(self, "serve", "--data", string(d), "--idle-exit", idleExit.String(), //nolint:noctx
		"--log-file", d.Path(serverLog))
	b.cmd.Dir = "/"
	if home, err := os.UserHomeDir(); err == nil {
		b.cmd.Dir = home
	}
	b.cmd.Stdout, b.cmd.Stderr = log, log
	b.cmd.SysProcAttr = detached()
	for _, kv := range os.Environ() { // the server and credential of this command are not the new server's
		if !strings.HasPrefix(kv, "AGENTCTL_") {
			b.cmd.Env = append(b.cmd.Env, kv)
		}
	}
	if err := b.cmd.Start(); err != nil {
		log.Close()
		return nil, fmt.Errorf("start a server: %w", err)
	}
	go func() {
		b.err = b.cmd.Wait()
		close(b.exit)
	}()
	return b, nil
}

// ended is closed when the server has ended. It is nil if b is.
func (b *backgroundServer) ended() <-chan struct{} {
	if b == nil {
		return nil
	}
	return b.exit
}

// foundLocked reports whether the ended server exited because another one runs: then its exit code
// is 0.
func (b *backgroundServer) foundLocked() bool { return b.err == nil }

// failure returns the last error of an ended server from its log, with the server's hint, and
// closes the log.
func (b *backgroundServer) failure() error {
	defer b.log.Close()
	reason, hint, written := fmt.Sprint(b.err), "", false
	lines := bufio.NewScanner(io.NewSectionReader(b.log, b.offset, 64<<10))
	for lines.Scan() {
		written = true
		if text, ok := strings.CutPrefix(lines.Text(), "agentctl: "); ok {
			reason, hint = text, ""
		} else if strings.HasPrefix(lines.Text(), "  ") {
			hint += strings.TrimSpace(lines.Text()) + "\n  "
		}
	}
	if hint += "see the log: " + b.log.Name(); !written {
		hint = "the log is empty, as on a full disk: see the reason with agentctl serve"
	}
	return exit.Unreachablef("the server did not start: %s", reason).WithHint("%s", hint)
}

// detach leaves a server running if it holds the directory; the goroutine that waits for it ends
// with this process. If another process holds the directory, the server is killed, so that it
// cannot lock the directory later.
func (b *backgroundServer) detach(holder int) {
	defer b.log.Close()
	if holder != 0 && holder != b.cmd.Process.Pid {
		_ = b.cmd.Process.Kill() // fails only if it has ended
		<-b.exit
	}
}
