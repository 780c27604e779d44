package output

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/tui/transcript"
)

func TestCleaningDoesNotDependOnHowTextIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("a\x1b[]31mé世\x9b\u009b\u202e\n\t\r0;\a\\"))).Draw(t, "text")
		var out strings.Builder
		w := &CleanWriter{W: &out}
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if wrote, err := w.Write(rest[:n]); wrote != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", wrote, n, err)
			}
			rest = rest[n:]
		}
		if want := transcript.Clean(text); out.String() != want {
			t.Fatalf("%q, want %q", out.String(), want)
		}
	})
}

func TestOneLineIsOne(t *testing.T) {
	tests := []struct {
		in    string
		width int
		want  string
	}{
		{"  two\nlines\tand more ", 0, "two lines and more"},
		{"abcdef", 4, "abc…"},
		{"世界世界世界", 3, "世界…"},
		{"\x1b[2Jclear", 0, "clear"},
		{"", 5, ""},
	}
	for _, tt := range tests {
		if got := OneLine(tt.in, tt.width); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Cell("", 5), "-"},
		{Cell("a b", 0), "a b"},
		{Actor(nil), "-"},
		{Actor(&protocol.Actor{Name: "bob"}), "bob"},
		{Session(&protocol.State{Session: "s_1"}), "s_1"},
		{Session(&protocol.State{Session: "s_1", Name: "fix"}), "fix"},
		{
			Approval(&protocol.Approval{Request: "r", Kind: protocol.ApproveCommand, Title: "t", Command: "ls"}),
			"r  command  ls",
		},
		{Approval(&protocol.Approval{Request: "r", Kind: protocol.ApproveTool, Title: "t"}), "r  tool  t"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestJSONOnATerminalHasNoControlCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("a\x1b\u007f\u0085\u009b\u202e\u2066é世\n\\\""))).Draw(t, "text")
		line := append(protocol.AppendString(nil, text), '\n')
		var out strings.Builder
		if n, err := (EscapeWriter{&out}).Write(line); n != len(line) || err != nil {
			t.Fatalf("wrote %d of %d: %v", n, len(line), err)
		}
		var got string
		if err := json.Unmarshal([]byte(out.String()), &got); err != nil || got != text {
			t.Fatalf("%q means %q, %v", out.String(), got, err)
		}
		if shown := strings.TrimSuffix(out.String(), "\n"); transcript.Clean(shown) != shown {
			t.Fatalf("%q controls the terminal", shown)
		}
	})
}

func TestAResultIsTextOrALineOfJSON(t *testing.T) {
	for asJSON, want := range map[bool]string{true: "{\"a\":1}\n", false: "one\n"} {
		var out strings.Builder
		p := Printer{Stdout: &out, JSON: asJSON}
		err := p.Print(map[string]int{"a": 1}, func(w io.Writer) { fmt.Fprintln(w, "one\x1b[31m") })
		if err != nil || out.String() != want {
			t.Errorf("%q, %v; want %q", out.String(), err, want)
		}
	}
}

func TestAnErrorIsOneObjectOnStderr(t *testing.T) {
	var out, errs strings.Builder
	p := Printer{Stdout: &out, Stderr: &errs, JSON: true}
	lost := protocol.Errorf(protocol.CodeConflict, "already decided")
	lost.Winner = &protocol.Winner{By: protocol.Actor{Name: "bob"}, Outcome: protocol.Denied}
	p.PrintError(exit.From(fmt.Errorf("approve: %w", lost)))
	want := `{"error":{"code":"conflict","message":"approve: already decided: decided by bob (denied)","winner":{"by":{"name":"bob"},"outcome":"denied"}}}` + "\n"
	if errs.String() != want || out.Len() > 0 {
		t.Errorf("stderr %s\nwant   %sstdout %q", errs.String(), want, out.String())
	}
}

func TestAnErrorCannotSteerTheTerminal(t *testing.T) {
	var errs strings.Builder
	p := Printer{Stderr: &errs}
	p.PrintError(exit.From(protocol.Errorf(protocol.CodeNoSession, "no \x1b[31mred\x1b]0;title\a session")))
	if got := errs.String(); strings.ContainsAny(got, "\x1b\a") ||
		!strings.HasPrefix(got, "agentctl: no red session\n  list") {
		t.Errorf("stderr %q", got)
	}
}

func TestASilentErrorPrintsNothing(t *testing.T) {
	for _, asJSON := range []bool{true, false} {
		var errs strings.Builder
		Printer{Stderr: &errs, JSON: asJSON}.PrintError(exit.Silent(exit.Failure))
		if errs.Len() > 0 {
			t.Errorf("stderr %q", errs.String())
		}
	}
}
