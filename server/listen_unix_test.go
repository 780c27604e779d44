//go:build unix

package server

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"agentctl/protocol"
)

func TestUnixSocketServes(t *testing.T) {
	w := newTestServer(t)
	path := filepath.Join(t.TempDir(), "s")
	l, err := ListenUnix(path)
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(l) }()
	c := dialWebSocket(
		t,
		func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "unix", path) },
	)
	id := c.create("few")
	c.subscribe(id, "0")
	m, before := c.waitForType(protocol.TurnEnded)
	follows(t, 0, append(before, m))
	_ = c.ws.CloseNow()
	w.stop()
	must(t, <-served)
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
}

func TestUnixSocketIsNeverOpenToOthers(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o777)) // readable by others
	stop := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				if info, err := e.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s has mode %v", e.Name(), info.Mode())
					return
				}
			}
		}
	})
	for range 100 {
		l, err := ListenUnix(filepath.Join(dir, "s"))
		must(t, err)
		info, err := os.Stat(filepath.Join(dir, "s"))
		must(t, err)
		if info.Mode() != os.ModeSocket|0o600 {
			t.Errorf("mode %v", info.Mode())
		}
		must(t, l.Close())
	}
	close(stop)
	watch.Wait()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	must(t, err)
	stale.SetUnlinkOnClose(false)
	must(t, stale.Close())
	if _, err := net.Dial("unix", path); err == nil {
		t.Fatal("the stale socket answers")
	}
	l, err := ListenUnix(path)
	must(t, err)
	conn, err := net.Dial("unix", path)
	must(t, err)
	_ = conn.Close()
	must(t, l.Close())
}

func TestWhatIsNoSocketIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	must(t, os.WriteFile(path, []byte("precious"), 0o600))
	if l, err := ListenUnix(path); err == nil {
		_ = l.Close()
		t.Error("a file was taken for a socket")
	}
	if b, _ := os.ReadFile(path); string(b) != "precious" {
		t.Errorf("the file holds %q", b)
	}
}

func TestClosingAgainLeavesTheNextSocketAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	first, err := ListenUnix(path)
	must(t, err)
	must(t, first.Close())
	second, err := ListenUnix(path)
	must(t, err)
	_ = first.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
	must(t, second.Close())
}

func TestSocketThatCannotBeIsAnError(t *testing.T) {
	for _, path := range []string{
		filepath.Join(t.TempDir(), "none", "s"),
		filepath.Join(t.TempDir(), strings.Repeat("s", 200)),
	} {
		if l, err := ListenUnix(path); err == nil {
			_ = l.Close()
			t.Errorf("listens on %s", path)
		}
	}
}
