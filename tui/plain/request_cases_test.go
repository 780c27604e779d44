package plain

import (
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/requestcases"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestARequestIsWrittenWithAllThatRuns(t *testing.T) {
	dir := "/home/ada/store"
	for _, c := range requestcases.All(dir) {
		a := c.Approval(dir)
		if input, ok := protocol.Compact(a.Input); ok {
			a.Input = input
		}
		j := tuitest.NewJournal()
		j.Add(protocol.ApprovalRequested, a)
		r := newRenderer(time.UTC)
		for _, u := range j.Take() {
			r.update(u)
		}
		shown := r.out.String()
		text := strings.NewReplacer(lineGutter, "", wrapGutter, "").Replace(shown)
		if missing := c.Missing(text); missing != nil {
			t.Errorf("%s: lacks %q:\n%s", c.Name, missing, shown)
		}
		if c.Command == "" && strings.Contains(shown, "\n  command") {
			t.Errorf("%s: written as a command:\n%s", c.Name, shown)
		}
	}
}
