//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/internal/dev/screenshot"
)

// waitScreen waits until the screen of the program shows text.
func (tt *terminalTest) waitScreen(text string) {
	tt.t.Helper()
	var last *screenshot.Screen
	err := tt.WaitFor(tt.ctx, 0, func(b []byte) bool {
		s, err := screenshot.Render(b, 100, 30)
		if err != nil {
			return false // the output ends in the middle of a sequence
		}
		last = s
		for y := range 30 {
			if strings.Contains(s.Line(y), text) {
				return true
			}
		}
		return false
	})
	if err == nil {
		return
	}
	var lines []string
	for y := 0; last != nil && y < 30; y++ {
		lines = append(lines, last.Line(y))
	}
	tt.t.Fatalf("no %q: %v\n%s", text, err, strings.Join(lines, "\n"))
}

// TestAnEditedCommandRunsInPlaceOfTheRequestedOne edits the command of a model's agent on the
// screen and allows it. The edited one runs, and the model is notified.
func TestAnEditedCommandRunsInPlaceOfTheRequestedOne(t *testing.T) {
	t.Parallel()
	model := httptest.NewServer(fakemodel.New(func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
		if result, ok := r.ToolResult(); ok {
			first, _, _ := strings.Cut(result, ".")
			out.Text("result: " + first)
			return
		}
		out.Call("shell", json.RawMessage(`{"command":"touch asked.txt"}`))
	}))
	t.Cleanup(model.Close)
	tt := newTerminalTestWithoutServer(t)
	home := filepath.Dir(string(tt.dir))
	config := filepath.Join(home, "server.json")
	text := `{"providers": {"chat": {"api": "chat", "base_url": "` + model.URL + `/v1", "key_command": ["echo", "k"]}},
		"agents": {"coder": {"model": "chat/m1"}}}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := tt.command("serve", "--config", config, "-o", "json")
	ready, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		endServer(t, tt.dir)
		_ = serve.Wait() // it was ended by a signal
	})
	if _, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		t.Fatal("the server does not start:", err)
	}
	tt.run("new", "--name", "edit", "--agent", "coder", "--cwd", home, "--prompt", "go")
	tt.open(tt.command("attach", "edit"), "touch asked.txt")
	tt.typeKeys("\t")
	tt.waitScreen("e edit")
	tt.typeKeys("e")
	tt.waitScreen("alt+enter new line")
	tt.typeKeys("\x15touch edited.txt\r")
	tt.waitScreen("edited  ▏ touch edited.txt")
	tt.waitScreen("y allow once")
	tt.typeKeys("y")
	tt.waitScreen("result: The user edited the command before it ran")
	tt.typeKeys("\x03\x03")
	tt.waitExit(0, "left edit")
	if _, err := os.Stat(filepath.Join(home, "edited.txt")); err != nil {
		t.Error("the edited command did not run:", err)
	}
	if _, err := os.Stat(filepath.Join(home, "asked.txt")); err == nil {
		t.Error("the requested command ran")
	}
}
