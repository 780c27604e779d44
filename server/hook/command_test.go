//go:build unix

package hook

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func newTestCommander(timeout time.Duration, args ...string) *commander {
	h := &Hook{Name: "n", Command: args, Limits: Limits{Timeout: timeout}}
	h.defaults()
	return newCommander(h)
}

func TestACommandGetsTheNotificationAndFewVariables(t *testing.T) {
	t.Setenv("PRIVATE", "secret")
	t.Setenv("AGENTCTL_TOKEN", "secret")
	out := filepath.Join(t.TempDir(), "out")
	c := newTestCommander(0, "sh", "-c", `cat >"$0"; env >>"$0"`, out)
	if err := c.send(t.Context(), "id", []byte("{\"type\":\"error\"}\n")); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	if !strings.HasPrefix(got, `{"type":"error"}`) || !strings.Contains(got, "AGENTCTL_HOOK=n") ||
		!strings.Contains(got, "PATH=") || strings.Contains(got, "secret") {
		t.Error(got)
	}
}

func TestNoShellReadsTheArgumentsOfACommand(t *testing.T) {
	dir := t.TempDir()
	c := newTestCommander(0, "touch", filepath.Join(dir, "a;touch b"))
	if err := c.send(t.Context(), "id", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a;touch b")); err != nil {
		t.Error(err)
	}
}

func TestACommandThatFailsOrHangsIsAFailure(t *testing.T) {
	for name, c := range map[string]*commander{
		"missing": newTestCommander(0, "/nonexistent/program"),
		"fails":   newTestCommander(0, "sh", "-c", "echo why >&2; exit 3"),
		"hangs":   newTestCommander(50*time.Millisecond, "sh", "-c", "sleep 600 & sleep 600"),
		"floods":  newTestCommander(20*time.Millisecond, "yes"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.send(t.Context(), "id", make([]byte, 1<<20)) // more than a pipe holds
			if err == nil || name == "fails" && !strings.Contains(err.Error(), "why") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestACommandEndsWithItsHook(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newTestCommander(time.Hour, "sleep", "600").send(ctx, "id", nil); err == nil {
		t.Error("it ended by itself")
	}
}

// A process that left the group of a command and writes on keeps neither the notification nor
// itself.
func TestAProcessThatHoldsTheOutputOfACommandIsKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	c := newTestCommander(time.Hour, "sh", "-c",
		`setsid sh -c 'echo $$ >"$0"; while :; do echo tick; sleep 0.1; done' "$0" &
		while ! [ -s "$0" ]; do sleep 0.01; done`, file)
	if err := c.send(t.Context(), "id", nil); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for syscall.Kill(pid, 0) == nil && !zombie(pid) {
		if time.Now().After(deadline) {
			t.Fatal("it still runs")
		}
		runtime.Gosched()
	}
}

// zombie reports whether a process has exited and waits for its parent.
func zombie(pid int) bool {
	out, _ := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}
