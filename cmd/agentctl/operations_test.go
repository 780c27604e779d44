//go:build unix

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/localserver"
	"agentctl/server"
)

const operationsPage = "../../docs/operations.md"

// TestEveryLineOfTheOperationsPageWorks runs the lines of the page's sh blocks in order. Only the
// port differs.
func TestEveryLineOfTheOperationsPageWorks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(operationsPage)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	data := localserver.Dir(filepath.Join(dir, "data"))
	if err := copyFile(filepath.Join("testdata", "agent.script"), filepath.Join(dir, "agent.script")); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "AGENTCTL_DATA="+string(data), "AGENTCTL_SERVER=", "AGENTCTL_TOKEN=",
		"AGENTCTL_CONFIG=", "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_RUNTIME_DIR=", "HOME="+dir, "USER=ann",
		"GORACE=atexit_sleep_ms=0")
	t.Cleanup(func() { endServer(t, data) })
	ctx, cancel := context.WithTimeout(t.Context(), scriptTimeout)
	defer cancel()
	sh := func(line string) (string, error) {
		cmd := exec.CommandContext(ctx, "sh", "-c", line)
		cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	port, ran := freePort(t), 0
	for _, line := range shellLines(string(page)) {
		line = strings.ReplaceAll(line, "7777", port)
		if background, ok := strings.CutSuffix(line, " &"); ok {
			line = background + " >address 2>&1 & until grep -q :// address 2>/dev/null; do sleep 0.02; done"
		}
		if out, err := sh(line); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		ran++
	}
	if ran < 15 {
		t.Errorf("%d lines", ran)
	}
}

// shellLines returns the lines of the sh blocks of a page.
func shellLines(page string) (lines []string) {
	block := ""
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		if fence, ok := strings.CutPrefix(line, "```"); ok {
			block = fence
		} else if block == "sh" {
			lines = append(lines, line)
		}
	}
	return lines
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func TestTheOperationsPageListsEveryMetric(t *testing.T) {
	page, err := os.ReadFile(operationsPage)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, m := range server.Metrics {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", m.Name, m.Kind, m.Help)
	}
	if !strings.Contains(string(page), "|---|---|---|\n"+table.String()+"\n") {
		t.Errorf("the table of metrics must be\n%s", table.String())
	}
	for _, name := range regexp.MustCompile(`agentctl_[a-z_]+`).FindAllString(string(page), -1) {
		name = strings.TrimSuffix(name, "_bucket")
		if !slices.ContainsFunc(server.Metrics, func(m server.Metric) bool { return m.Name == name }) {
			t.Errorf("%s is no metric", name)
		}
	}
}
