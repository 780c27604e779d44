package main

import (
	"bytes"
	"os"
	"os/signal"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/internal/cli"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
)

// TestTourWithoutATerminalEndsByItself runs the tour in virtual time: its agent writes at the pace
// of a reader.
func TestTourWithoutATerminalEndsByItself(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt) // starts the runtime's goroutine for signals outside of the bubble
	signal.Stop(c)
	synctest.Test(t, func(t *testing.T) {
		var out, diagnostics bytes.Buffer
		env := map[string]string{"HOME": dir, "USER": "ada"}
		program := &verb.Context{
			Stdin: strings.NewReader(""), Out: output.Printer{Stdout: &out, Stderr: &diagnostics},
			Env: func(name string) string { return env[name] },
		}
		if code := cli.Execute(t.Context(), program, []string{"tour"}); code != exit.OK {
			t.Errorf("exit code %d, want %d; stderr: %s", code, exit.OK, &diagnostics)
		}
		for _, want := range []string{": ✓ allowed", "queued 1st: ", "turn completed"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the output lacks %q:\n%s", want, &out)
			}
		}
	})
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		t.Errorf("the tour left %s", f.Name())
	}
}
