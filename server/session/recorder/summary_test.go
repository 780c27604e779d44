package recorder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/session/output"
)

func TestASummarySaysWhatTheSessionDoes(t *testing.T) {
	begun, later := time.Unix(1, 0), time.Unix(9, 0)
	turn := func(text string, tools ...protocol.OpenTool) *protocol.TurnState {
		return &protocol.TurnState{Turn: "t1", Message: protocol.Message{Text: text}, Tools: tools, Started: begun}
	}
	var wrote output.Line
	wrote.Write("t1", protocol.Delta{Kind: protocol.KindText, Text: "Looking at\nthe tests "}, later)
	for name, c := range map[string]struct {
		state  protocol.State
		output output.Line
		want   string
		since  time.Time
	}{
		"nothing":           {},
		"what it was asked": {state: protocol.State{Turn: turn("\nFix it\nplease")}, want: "Fix it", since: begun},
		"at most so much of it": {
			state: protocol.State{Turn: turn(strings.Repeat("漢", 90_000))},
			want:  strings.Repeat("漢", maxActivity/3), since: begun,
		},
		"the newest line": {state: protocol.State{Turn: turn("x")}, output: wrote, want: "the tests", since: begun},
		"no line of another turn": {
			state: protocol.State{Turn: turn("x")}, output: output.StoredLine(&protocol.Summary{
				Progress: protocol.Progress{Output: "old"},
			}), want: "x", since: begun,
		},
		"the newest tool": {state: protocol.State{Turn: turn("x", protocol.OpenTool{Title: "a"},
			protocol.OpenTool{Name: "shell", Started: later})}, output: wrote, want: "shell", since: later},
		"before all what it asks": {state: protocol.State{
			Turn:      turn("x", protocol.OpenTool{Title: "a", Started: later}),
			Approvals: []protocol.Approval{{Title: "Push", Command: "git push"}},
		}, want: "git push"},
		"the files of a patch": {state: protocol.State{Approvals: []protocol.Approval{{
			Kind: protocol.ApprovePatch, Title: "Lock in store.go",
			Paths: []string{"/r/x/store.go", "/r/x/log.go"}, CWD: "/r",
		}}}, want: "Lock in store.go · log.go"},
	} {
		got, since := activity(&c.state, &c.output, nil)
		if got != c.want || (since == nil) != c.since.IsZero() || since != nil && !since.Equal(c.since) {
			t.Errorf("%s: %q since %v, want %q since %v", name, got, since, c.want, c.since)
		}
	}
}

func TestASummaryNamesTheRepositoryOfTheDirectory(t *testing.T) {
	root := t.TempDir()
	within := filepath.Join(root, "pkg", "store")
	for _, dir := range []string{filepath.Join(root, ".git"), within} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var p project
	for _, c := range [][2]string{{within, root}, {root, ""}, {"", ""}, {within, root}} {
		if got := p.of(c[0]); got != c[1] {
			t.Errorf("%q is of %q, want %q", c[0], got, c[1])
		}
	}
}
