//go:build unix

package main

import (
	"strings"
	"testing"
)

// On a terminal run shows each request and asks; Ctrl-C ends the turn and removes the session.
func TestRunAsksOnATerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prompt string
		keys   []string // typed at each question
		shown  string
		code   int
	}{
		{"ask", []string{"y\r"}, "removed", 0},
		{"ask", []string{"what\r", "n\r"}, "kept", 0},
		{"ask", []string{"s\r"}, "a denial ended the turn", 7},
		{"ask", []string{"\x03"}, "", 130},
		{"both", []string{"y\ry\r", "n\r"}, "kept the rest", 0}, // an answer typed before its question is none
	} {
		t.Run(c.prompt+" "+c.shown, func(t *testing.T) {
			t.Parallel() // each question waits
			tt := newTerminalTest(t)
			tt.open(tt.shell("exec agentctl run --agent script:"+tt.script()+" "+c.prompt), "rm -rf build")
			for at, i := 0, 0; i < len(c.keys); i++ {
				tt.waitFor(at, "allow once? y yes, n no, s no and stop:")
				at = tt.Len()
				tt.typeKeys(c.keys[i])
			}
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
		})
	}
}
