package recorder

import (
	"strings"
	"testing"

	"agentctl/protocol"
)

func TestASummarySaysWhatTheSessionDoes(t *testing.T) {
	turn := func(text string, tools ...protocol.OpenTool) *protocol.TurnState {
		return &protocol.TurnState{Message: protocol.Message{Text: text}, Tools: tools}
	}
	for name, c := range map[string]struct {
		state protocol.State
		want  string
	}{
		"nothing":           {protocol.State{}, ""},
		"what it was asked": {protocol.State{Turn: turn("\nFix it\nplease")}, "Fix it"},
		"at most so much of it": {
			protocol.State{Turn: turn(strings.Repeat("漢", 90_000))},
			strings.Repeat("漢", maxActivity/3),
		},
		"the newest tool": {protocol.State{Turn: turn("x", protocol.OpenTool{Title: "a"},
			protocol.OpenTool{Name: "shell"})}, "shell"},
		"before all what it asks": {protocol.State{
			Turn:      turn("x", protocol.OpenTool{Title: "a"}),
			Approvals: []protocol.Approval{{Title: "Push", Command: "git push"}},
		}, "git push"},
	} {
		if got := activity(&c.state); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
