package output

import (
	"strings"
	"testing"

	"agentctl/internal/dev/requestcases"
	"agentctl/protocol"
)

func TestARequestIsALineWithAllThatRuns(t *testing.T) {
	dir := "/home/ada/store"
	for _, c := range requestcases.All(dir) {
		a := c.Approval(dir)
		if input, ok := protocol.Compact(a.Input); ok {
			a.Input = input
		}
		line := Approval(&a)
		if strings.ContainsAny(line, "\n\t") {
			t.Errorf("%s: %q is more than a line", c.Name, line)
		}
		if missing := c.Missing(line); missing != nil {
			t.Errorf("%s: lacks %q: %s", c.Name, missing, line)
		}
		if c.Kind == protocol.ApproveCommand && len(a.Input) > 0 && strings.Contains(line, c.Title) {
			t.Errorf("%s: the agent's title is in %s", c.Name, line)
		}
	}
}

func TestALongRequestTellsHowMuchIsMissing(t *testing.T) {
	a := protocol.Approval{Request: "r", Kind: protocol.ApproveCommand, Command: strings.Repeat("x", maxAction+7)}
	if got, want := Approval(&a), "… (7 more characters)"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q at its end", got, want)
	}
}
