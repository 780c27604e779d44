package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	startPatience = 15 * time.Second      // for a background server to answer
	startPoll     = 20 * time.Millisecond // between looks whether it does
	maxServerLog  = 1 << 20               // bytes of an old server.log that are kept

	defaultIdleExit = 10 * time.Minute // without sessions at work or clients, after which a background server ends
)

// errLocked says that another server runs on the data directory.
var errLocked = errors.New("another server runs on this data directory")

// ensureLocal returns when the local server answers, started in the background if need be. Of several that start one at the same
// time, one wins the lock and the others connect to it.
func (a *app) ensureLocal(ctx context.Context, d dataDir) error {
	if answers(ctx, d) {
		return nil
	}
	if a.flags.NoStart {
		return unreachablef("no server runs on %s", d).hinting("%s", hints[codeUnreachable])
	}
	if !canServe {
		return unreachablef("no server runs on %s", d).hinting("name one with --server: this system cannot run one yet")
	}
	if err := d.make(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("the server did not answer within %s", startPatience))
	defer cancel()
	return d.start(ctx)
}

// start starts servers until one answers. A server that ends at once is not tried again unless it gave way to another.
func (d dataDir) start(ctx context.Context) error {
	var child *background
	defer func() {
		if child != nil {
			child.leave()
		}
	}()
	tick := time.NewTicker(startPoll)
	defer tick.Stop()
	for {
		if child == nil && d.owner() == 0 {
			var err error
			if child, err = d.spawn(); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return unreachablef("%w", context.Cause(ctx)).hinting("its log: %s", d.path("server.log"))
		case <-tick.C:
		case <-child.ended():
			gaveWay := child.gaveWay()
			said := child.said()
			child = nil
			if !gaveWay {
				return unreachablef("the server did not start: %s", said).hinting("its log: %s", d.path("server.log"))
			}
		}
		if answers(ctx, d) {
			return nil
		}
	}
}

// answers reports whether something accepts connections on the local socket.
func answers(ctx context.Context, d dataDir) bool {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", d.socket())
	if err != nil {
		return false
	}
	c.Close()
	return true
}

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
	// Not bound to a context: it is to outlive this process.
	b.cmd = exec.Command(self, "serve", "--data", string(d), "--idle-exit", defaultIdleExit.String()) //nolint:noctx
	b.cmd.Dir = "/"                                                                                   // whose directory this one's is, is no business of a server
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

// leave lets go of a server that runs. Its goroutine ends with this process: a server that was started outlives it.
func (b *background) leave() { b.log.Close() }
