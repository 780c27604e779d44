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

// What is drawn as nothing or as a space, and what controls a terminal, is shown wherever it is.
func TestARequestHidesNoCharacter(t *testing.T) {
	for _, r := range "\x00\n\t\x1b\x7f\u0085\u009b\u00a0\u00ad\u200b\u200d\u200e\u2028\u202e\u2066\u2800\u3000\u3164\ufeff\U000e0041" {
		c := "a" + string(r) + "b"
		for field, a := range map[string]protocol.Approval{
			"title":   {Title: c},
			"command": {Kind: protocol.ApproveCommand, Command: c},
			"cwd":     {Kind: protocol.ApproveCommand, Command: "ls", CWD: c},
			"request": {Request: c, Title: "x"},
			"kind":    {Kind: c, Title: "x"},
		} {
			line := Approval(&a)
			if strings.ContainsRune(line, r) || strings.Contains(line, "ab") || !strings.Contains(line, "a") {
				t.Errorf("%U in the %s is not shown: %q", r, field, line)
			}
		}
	}
}

func TestALongRequestTellsHowMuchIsMissing(t *testing.T) {
	a := protocol.Approval{Request: "r", Kind: protocol.ApproveCommand, Command: strings.Repeat("x", maxAction+7)}
	if got, want := Approval(&a), "… (7 more characters)"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q at its end", got, want)
	}
}
