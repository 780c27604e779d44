//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// On a terminal run shows each request and asks; Ctrl-C ends the turn and removes the session.
func TestRunAsksOnATerminal(t *testing.T) {
	t.Parallel()
	agent, err := filepath.Abs(filepath.Join("testdata", "agent.script"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		prompt string
		keys   string
		shown  string
		code   int
	}{
		{"ask", "y\r", "removed", 0},
		{"ask", "what\rn\r", "kept", 0},
		{"ask", "s\r", "the turn was ended: denied", 130},
		{"ask", "\x03", "", 130},
	} {
		tt := newTerminalTest(t)
		cmd := tt.command()
		cmd.Path = "/bin/sh"
		cmd.Args = []string{"sh", "-c", "exec agentctl run --agent script:" + agent + " " + c.prompt}
		tt.open(cmd, "rm -rf build")
		tt.waitFor(0, "allow once? y yes, n no, s no and stop:")
		tt.typeKeys(c.keys)
		if err := tt.Wait(tt.ctx); err != nil {
			t.Fatal(err)
		}
		out := string(tt.OutputSince(0))
		if got := tt.Cmd.ProcessState.ExitCode(); got != c.code || !strings.Contains(out, c.shown) {
			t.Errorf("%q: exit code %d, want %d and %q:\n%s", c.keys, got, c.code, c.shown, out)
		}
		list, err := tt.command("ls", "-a", "-q").Output()
		if err != nil || strings.Count(string(list), "\n") != 1 {
			t.Errorf("%q: sessions %q, %v: want the one of the test", c.keys, list, err)
		}
	}
}
