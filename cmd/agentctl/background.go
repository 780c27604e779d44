package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// A background is a server that this process started. It lives on when this process ends.
type background struct {
	cmd   *exec.Cmd
	log   *os.File
	from  int64         // where its own words begin in the log
	exit  chan struct{} // closed when it ended
	state error
}

// spawn starts a server detached from this process and its terminal.
func (d dataDir) spawn() (*background, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	log, err := os.OpenFile(d.path("server.log"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	if info, err := log.Stat(); err == nil && info.Size() > maxServerLog {
		_ = log.Truncate(0) // a log that cannot be cut only grows
	}
	b := &background{log: log, exit: make(chan struct{})}
	b.from, _ = log.Seek(0, io.SeekEnd)
	// Not bound to a context: it is to outlive this process, and its directory.
	b.cmd = exec.Command(self, "serve", "--data", string(d), "--idle-exit", defaultIdleExit.String()) //nolint:noctx
	b.cmd.Dir = "/"
	if home, err := os.UserHomeDir(); err == nil {
		b.cmd.Dir = home
	}
	b.cmd.Stdout, b.cmd.Stderr = log, log
	b.cmd.SysProcAttr = detached()
	for _, kv := range os.Environ() { // what names a server or its credential is this call's own
		if !strings.HasPrefix(kv, "AGENTCTL_") {
			b.cmd.Env = append(b.cmd.Env, kv)
		}
	}
	if err := b.cmd.Start(); err != nil {
		log.Close()
		return nil, fmt.Errorf("start a server: %w", err)
	}
	go func() {
		b.state = b.cmd.Wait()
		close(b.exit)
	}()
	return b, nil
}

// ended is closed when the server ended; nil, when none was started.
func (b *background) ended() <-chan struct{} {
	if b == nil {
		return nil
	}
	return b.exit
}

// gaveWay reports whether the ended server left in peace: because another one runs.
func (b *background) gaveWay() bool { return b.state == nil }

// said returns why the server ended, in its own words, and closes the log.
func (b *background) said() string {
	defer b.log.Close()
	words := fmt.Sprint(b.state)
	lines := bufio.NewScanner(io.NewSectionReader(b.log, b.from, 64<<10))
	for lines.Scan() {
		if said, ok := strings.CutPrefix(lines.Text(), "agentctl: "); ok {
			words = said
		}
	}
	return words
}

// leave lets go of a server that runs: the owner of the directory outlives this process, and so does the goroutine that waits for
// it. One that another was faster than is ended, lest it wins later, when it is wanted no more.
func (b *background) leave(owner int) {
	defer b.log.Close()
	if owner != 0 && owner != b.cmd.Process.Pid {
		_ = b.cmd.Process.Kill() // or it has ended by itself
		<-b.exit
	}
}
