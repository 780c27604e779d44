//go:build unix

package acp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestNothingOfTheAgentIsLeft(t *testing.T) {
	for _, traits := range []string{"plain", "stubborn"} {
		r := newTestAgent(t, traits, func(c *Config, _ *agent.Spec) { c.EndGrace = 50 * time.Millisecond })
		r.run("child")
		pid, err := strconv.Atoi(r.text())
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		for _, p := range []int{r.groups[0].PID, pid} {
			waitGone(t, p)
		}
		if _, err := r.tryRun(t.Context(), "say no"); protocol.CodeOf(err) != protocol.CodeShuttingDown {
			t.Errorf("ran after Close: %v", err)
		}
	}
}

func waitGone(t *testing.T, pid int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || err == nil && strings.Contains(string(stat), ") Z ") {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("process %d still runs", pid)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestTheEnvironmentIsThatOfTheSessionWithoutTheServersSecret(t *testing.T) {
	t.Setenv("AGENTCTL_TOKEN", "secret")
	dir := t.TempDir()
	file := filepath.Join(dir, "env")
	r := newTestAgent(t, "plain", func(c *Config, s *agent.Spec) {
		c.Command = []string{"/bin/sh", "-c", `env > "$OUT"; pwd >> "$OUT"; exec "$0"`, c.Command[0]}
		c.Env = map[string]string{"OUT": file, "WHO": "config"}
		s.Env["WHO"] = "session"
		s.CWD = dir
	})
	r.run("say hi")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(b); !strings.Contains(got, "WHO=session\n") || strings.Contains(got, "secret") ||
		!strings.HasSuffix(got, dir+"\n") {
		t.Errorf("got %s", got)
	}
}
