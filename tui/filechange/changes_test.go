package filechange

import (
	"encoding/json"
	"strings"
	"testing"

	_ "agentctl/internal/dev/golden" // the flag -update
	"agentctl/protocol"
	"agentctl/tui/diff"
	"agentctl/tui/transcript"
)

// paths returns the paths of files, with what a file is.
func paths(files []diff.File) string {
	var out []string
	for _, f := range files {
		out = append(out, f.Old+"→"+f.New)
	}
	return strings.Join(out, " ")
}

func TestFromArguments(t *testing.T) {
	for name, c := range map[string]struct{ kind, input, want string }{
		"replaced text": {protocol.ToolEdit, `{"file_path":"a.go","old_string":"x","new_string":"y"}`, "a.go→a.go"},
		"other names":   {protocol.ToolEdit, `{"path":"a.go","oldText":"x","newText":"y"}`, "a.go→a.go"},
		"whole file":    {protocol.ToolEdit, `{"path":"a.go","content":"x\n"}`, "a.go→a.go"},
		"patch":         {protocol.ToolEdit, `{"patch":"--- a/a.go\n+++ b/b.go\n@@ -1 +1 @@\n-x\n+y\n"}`, "a.go→b.go"},
		"not an edit":   {protocol.ToolRead, `{"path":"a.go","content":"x"}`, ""},
		"one line":      {protocol.ToolExecute, `{"command":"ls"}`, ""},
		"no object":     {protocol.ToolEdit, `["a.go"]`, ""},
		"hidden text":   {protocol.ToolEdit, `{"path":"a\u001b.go","old_string":"x","new_string":"y"}`, "a␛.go→a␛.go"},
	} {
		if got := paths(FromArguments(c.kind, json.RawMessage(c.input), transcript.Reveal)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestLinesCountsHiddenLines(t *testing.T) {
	old := strings.Repeat("a\n", 20)
	files := FromContent([]protocol.Content{
		{Type: "text", Text: "ignored"},
		{Type: "diff", Path: "f", Old: &old, New: strings.Repeat("b\n", 20)},
	}, transcript.Reveal)
	all, more := New(files).Lines(60, 1000, false)
	if len(all) < 40 || more != 0 {
		t.Fatalf("got %d lines and %d more, want at least 40 and 0", len(all), more)
	}
	for limit := range len(all) {
		c := New(files)
		for range 2 { // laid out, then from the cache
			if lines, more := c.Lines(60, limit, false); len(lines) > limit || more == 0 {
				t.Errorf("limit %d: got %d lines and %d more", limit, len(lines), more)
			}
		}
	}
}
