//go:build unix

package serve

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// testReloader runs a reloader with a file that decides who has access, and a configuration. It
// returns how often each was read, as of the last synctest.Wait.
func testReloader(t *testing.T, r *reloader) (file string, access, config *atomic.Int32) {
	t.Helper()
	file, access, config = filepath.Join(t.TempDir(), "users"), new(atomic.Int32), new(atomic.Int32)
	r.log, r.hup = slog.New(slog.DiscardHandler), make(chan os.Signal, 1)
	r.add("users", []string{file}, func() error {
		access.Add(1)
		_, err := os.ReadFile(file)
		return err
	})
	r.add("configuration", nil, func() error {
		config.Add(1)
		return errors.New("broken")
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return file, access, config
}

// Files that decide who has access are read again once after each change, everything on SIGHUP.
func TestFilesAreReloadedAfterAChangeAndOnSIGHUP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reloader{hasTerminal: func() bool { return false }}
		file, access, config := testReloader(t, r)
		check := func(what string, wantAccess, wantConfig int32) {
			t.Helper()
			synctest.Wait()
			if access.Load() != wantAccess || config.Load() != wantConfig {
				t.Errorf("%s: read %d and %d times, want %d and %d",
					what, access.Load(), config.Load(), wantAccess, wantConfig)
			}
		}
		time.Sleep(5 * reloadInterval)
		check("unchanged", 1, 0)
		for n, content := range []string{"a", "bb", ""} {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * reloadInterval)
			check("changed", 2+int32(n), 0)
		}
		r.hup <- syscall.SIGHUP
		check("SIGHUP", 5, 1)
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * reloadInterval)
		check("removed", 6, 1)
	})
}

// SIGHUP of a terminal that was closed ends the server.
func TestAClosedTerminalEndsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, stopped := true, false
		r := &reloader{hasTerminal: func() bool { return open }, stop: func() { stopped = true }}
		testReloader(t, r)
		r.hup <- syscall.SIGHUP
		synctest.Wait()
		if stopped {
			t.Error("ended by SIGHUP with its terminal")
		}
		open = false
		r.hup <- syscall.SIGHUP
		synctest.Wait()
		if !stopped {
			t.Error("not ended")
		}
	})
}
