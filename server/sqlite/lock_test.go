//go:build unix

package sqlite_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"agentctl/server/sqlite"
	"agentctl/server/sqlite/dirlock"
)

const holdDir = "AGENTCTL_TEST_HOLD"

// TestHoldDirectory is the program of the process that startHolder starts: it opens a store until
// stdin ends.
func TestHoldDirectory(t *testing.T) {
	dir := os.Getenv(holdDir)
	if dir == "" {
		t.Skip("runs in a separate process")
	}
	s, err := sqlite.Open(dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// startHolder starts a process that opens a store in dir. end closes its stdin, kill kills it; both
// wait for its end.
func startHolder(t *testing.T, dir string) (pid int, end, kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHoldDirectory$")
	cmd.Env = append(os.Environ(), holdDir+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Fatalf("holder writes %q, %v", line, err)
	}
	return cmd.Process.Pid, func() {
			in.Close()
			_, _ = io.Copy(io.Discard, out)
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}, func() {
			_ = cmd.Process.Kill() // fails only if it has ended
			_ = cmd.Wait()
		}
}

func TestOneProcessHoldsADirectory(t *testing.T) {
	dir := t.TempDir()
	if pid := dirlock.Holder(dir); pid != 0 {
		t.Errorf("a free directory is held by %d", pid)
	}
	pid, end, _ := startHolder(t, dir)
	if got := dirlock.Holder(dir); got != pid {
		t.Errorf("held by %d, want %d", got, pid)
	}
	if _, err := sqlite.Open(dir, sqlite.Options{}); !errors.Is(err, dirlock.ErrLocked) ||
		!strings.Contains(err.Error(), fmt.Sprint("process ", pid)) {
		t.Errorf("opened beside its holder: %v", err)
	}
	end()
	s, err := sqlite.Open(dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := dirlock.Holder(dir); got != os.Getpid() {
		t.Errorf("held by %d, want this process", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := dirlock.Holder(dir); got != 0 {
		t.Errorf("closed, yet held by %d", got)
	}
}

func TestAKilledProcessFreesItsDirectory(t *testing.T) {
	dir := t.TempDir()
	_, _, kill := startHolder(t, dir)
	kill()
	if got := dirlock.Holder(dir); got != 0 {
		t.Errorf("held by %d", got)
	}
	s, err := sqlite.Open(dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A look at the holder and a second Open must not release the lock that this process has.
func TestAskingForTheHolderKeepsTheLock(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, sqlite.Options{})
	if got := dirlock.Holder(dir); got != os.Getpid() {
		t.Errorf("held by %d", got)
	}
	if _, err := sqlite.Open(dir, sqlite.Options{}); !errors.Is(err, dirlock.ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHoldDirectory$")
	cmd.Env = append(os.Environ(), holdDir+"="+dir)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "in use") {
		t.Errorf("another process opened it: %v\n%s", err, out)
	}
}
