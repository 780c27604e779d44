//go:build linux

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	registry "agentctl/internal/agents"
	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server"
	"agentctl/server/agent/acp"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/llm/provider"
	"agentctl/server/hook"
	"agentctl/server/policy"
	"agentctl/server/session"
	"agentctl/server/sqlite"
	"agentctl/wsclient"
)

// A server stops while every kind of program that it starts has left a process behind: one that has
// its own group and no parent, holds the output of the program and writes on.
func TestAServerStopsWithEveryKindOfStuckProcess(t *testing.T) {
	t.Parallel() // it waits for processes
	dir := t.TempDir()
	stuck := func(name string) string { // a process that writes its number to a file
		return `(setsid sh -c 'echo $$ >"$0.new"; mv "$0.new" "$0"; while :; do echo tick; sleep 0.1; done' ` +
			filepath.Join(dir, name) + ` &)`
	}
	model := httptest.NewServer(fakemodel.New(func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
		if r.LastUser() == "end" {
			out.Text("done")
			return
		}
		out.Call("shell", map[string]any{"command": stuck("tool") + "; sleep 600"})
	}))
	defer model.Close()
	of := &registry.Registry{
		MCP: map[string]registry.MCPServer{"files": {
			MCPServer: acp.MCPServer{Command: "sh", Args: []string{"-c", stuck("mcp") + "; exec cat >/dev/null"}},
			Agents:    []string{"reader"},
		}},
		Providers: registry.Providers{"fake": {
			API: provider.Chat, BaseURL: model.URL + "/v1",
			Models: map[string]provider.ModelConfig{"m": {Window: 100_000}},
		}},
		Configured: map[string]registry.Config{
			"main":   {Config: llm.Config{Model: "fake/m", Policy: policy.Full}},
			"reader": {Config: llm.Config{Model: "fake/m"}}, // its turn waits for the answer of its MCP server
			"other":  {Command: "sh", Args: []string{"-c", stuck("agent") + "; exec cat >/dev/null"}},
		},
	}
	if err := of.CheckConfigured(); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(filepath.Join(dir, "data"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(t.Context(), server.Config{
		Session: session.Config{Store: store, Agents: of, DefaultAgent: "main"},
		Hooks: []hook.Hook{{
			Name: "local", Command: []string{"sh", "-c", stuck("hook") + "; sleep 600"},
			Filter: hook.Filter{Types: []string{hook.TypeTurnEnded}},
		}},
		HooksDir: filepath.Join(dir, "hooks"),
	})
	if err != nil {
		t.Fatal(err)
	}
	pipe := server.NewPipe()
	served := make(chan error, 1)
	go func() { served <- s.Serve(pipe.Listener) }()
	c := wsclient.New("ws://server", wsclient.Options{Dial: pipe.Dial})
	start := func(agent, text string) {
		create := protocol.CreateData{Agent: agent, CWD: dir}
		id := do[protocol.CreateResult](t, c, protocol.DoCreate, "", create).Session
		do[protocol.SendResult](t, c, protocol.DoSend, id, protocol.SendData{Text: text})
	}
	start("main", "run")
	start("main", "end") // the end of its turn starts the hook
	start("reader", "run")
	start("other", "run")
	var pids []int
	for _, name := range []string{"tool", "mcp", "agent", "hook"} {
		pids = append(pids, readPID(t, filepath.Join(dir, name)))
	}
	_ = c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := errors.Join(s.Shutdown(ctx), <-served, store.Close()); err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		waitExit(t, pid)
	}
}

// readPID waits for a file with the number of a process.
func readPID(t *testing.T, path string) int {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		if b, err := os.ReadFile(path); err == nil {
			pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		select {
		case <-deadline:
			t.Fatalf("no process wrote %s", path)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// waitExit waits until a process has exited. A zombie has.
func waitExit(t *testing.T, pid int) {
	t.Helper()
	deadline := time.After(time.Minute)
	for syscall.Kill(pid, 0) == nil {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if _, after, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(after, "Z") {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("process %d still runs", pid)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
