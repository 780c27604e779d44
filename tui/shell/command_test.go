//go:build unix

package shell

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "agentctl/internal/dev/golden" // the flag -update
)

// run runs a command to its end and returns its output.
func run(t *testing.T, command, dir string) (*Command, string) {
	t.Helper()
	c, err := Start(t.Context(), command, dir)
	if err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	return c, c.Read()
}

func TestACommandRunsInItsDirectoryWithoutInput(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c, out := run(t, "pwd; cat; echo problem >&2; exit 3", dir)
	if want := dir + "\nproblem\n"; out != want || c.Result() != "exit 3" {
		t.Errorf("got %q, %s, want %q, exit 3", out, c.Result(), want)
	}
	if c, out = run(t, "true", dir); out != "" || c.Result() != "exit 0" {
		t.Errorf("got %q, %s", out, c.Result())
	}
	if _, err := Start(t.Context(), "true", filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing directory is no error")
	}
}

func TestTheOutputIsBounded(t *testing.T) {
	c, out := run(t, "head -c 200000 /dev/zero | tr '\\0' x", "")
	if len(out) != MaxOutput || c.Dropped() != 200000-MaxOutput {
		t.Errorf("got %d bytes and %d dropped", len(out), c.Dropped())
	}
}

func TestAReadDoesNotCutARune(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Start(t.Context(), "printf '\\342\\202'; cat "+fifo+"; printf '\\254'", "")
	if err != nil {
		t.Fatal(err)
	}
	for started := false; !started; { // until the first two bytes have arrived
		c.mu.Lock()
		started = len(c.unread) == 2
		c.mu.Unlock()
	}
	if got := c.Read(); got != "" {
		t.Errorf("got %q of an incomplete rune", got)
	}
	if err := os.WriteFile(fifo, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	if got := c.Read(); got != "€" {
		t.Errorf("got %q", got)
	}
}

func TestStopAndTheEndOfTheContextEndAllProcesses(t *testing.T) {
	for name, stop := range map[string]func(*Command, context.CancelFunc){
		"stop":    func(c *Command, _ context.CancelFunc) { c.Stop() },
		"context": func(_ *Command, end context.CancelFunc) { end() },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		c, err := Start(ctx, "sleep 1000 & echo $!; wait", "")
		if err != nil {
			t.Fatal(err)
		}
		var out string
		for !strings.Contains(out, "\n") {
			out += c.Read()
		}
		child, err := strconv.Atoi(strings.TrimSpace(out))
		if err != nil {
			t.Fatal(err)
		}
		stop(c, cancel)
		<-c.Done()
		cancel()
		deadline := time.Now().Add(time.Minute)
		for running(child) && time.Now().Before(deadline) {
		}
		if running(child) {
			t.Errorf("%s: the child still runs", name)
		}
		if strings.HasPrefix(c.Result(), "exit") {
			t.Errorf("%s: result %q", name, c.Result())
		}
	}
}

// running reports whether a process runs. One that waits for its parent to notice its end does not.
func running(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err == nil {
		return !strings.Contains(string(stat), ") Z ")
	}
	return syscall.Kill(pid, 0) == nil
}
