package main

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

func TestCleaningDoesNotDependOnHowTextIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("a\x1b[]31mé世\x9b\u009b\u202e\n\t\r0;\a\\"))).Draw(t, "text")
		var out strings.Builder
		w := &cleanWriter{w: &out}
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
		if got := oneLine(tt.in, tt.width); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestJSONOnATerminalMeansTheSameAndSteersNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("a\x1b\u007f\u0085\u009b\u202e\u2066é世\n\\\""))).Draw(t, "text")
		line := append(protocol.AppendString(nil, text), '\n')
		var out strings.Builder
		if n, err := (escapeWriter{&out}).Write(line); n != len(line) || err != nil {
			t.Fatalf("wrote %d of %d: %v", n, len(line), err)
		}
		var got string
		if err := json.Unmarshal([]byte(out.String()), &got); err != nil || got != text {
			t.Fatalf("%q means %q, %v", out.String(), got, err)
		}
		if shown := strings.TrimSuffix(out.String(), "\n"); transcript.Clean(shown) != shown {
			t.Fatalf("%q steers", shown)
		}
	})
}
