package approval

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/requestcases"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

func TestARequestIsShownWithAllThatRuns(t *testing.T) {
	dir := t.TempDir()
	for _, c := range requestcases.All(dir) {
		a := c.Approval(dir)
		if input, ok := protocol.Compact(a.Input); ok {
			a.Input = input
		}
		f := NewForm(ui.NewStyles(time.UTC, ""), &a)
		lines, hidden := f.RequestLines(&a, 4000, 1000)
		for i := range lines {
			lines[i] = ansi.Strip(lines[i])
		}
		shown := strings.Join(lines, "\n")
		if missing := c.Missing(shown); missing != nil || hidden > 0 {
			t.Errorf("%s: lacks %q:\n%s", c.Name, missing, shown)
		}
		if c.Command == "" && strings.Contains(shown, "\n   $ ") {
			t.Errorf("%s: shown as a command:\n%s", c.Name, shown)
		}
		list, _ := NewRequestPager(ui.NewStyles(time.UTC, ""), &a).View(4000, 1000)
		for i := range list {
			list[i] = ansi.Strip(list[i])
		}
		if missing := c.Missing(strings.Join(list, "\n")); missing != nil {
			t.Errorf("%s: the pager lacks %q", c.Name, missing)
		}
	}
}

// Requests that run different things look different, except for shells, which run the same command.
func TestRequestsThatRunDifferentThingsLookDifferent(t *testing.T) {
	dir := t.TempDir()
	shown := map[string]string{} // group by what is shown
	for _, c := range requestcases.All(dir) {
		a := c.Approval(dir)
		var text strings.Builder
		for _, p := range Passages(&a, true) {
			text.WriteString(p.Text + "\n")
		}
		for i := range a.Content {
			text.WriteString(a.Content[i].Path)
		}
		words := strings.Contains(c.Input, "[")
		if other, ok := shown[text.String()]; ok && other != c.Group() && !words && c.Command != "" {
			t.Errorf("%s is shown like %s:\n%s", c.Name, other, text.String())
		}
		shown[text.String()] = c.Group()
	}
}

func TestALineOfATitleCannotPassForAPartOfTheRequest(t *testing.T) {
	a := protocol.Approval{
		Kind: protocol.ApproveCommand, Title: "Run\n$ ls\nin /safe", CWD: "/w", Command: "rm x\nin /safe",
		Why: "see\n$ ls",
	}
	for _, p := range Passages(&a, true) {
		for i, line := range strings.Split(p.Text, "\n") {
			if i > 0 && !strings.HasPrefix(line, "  ") {
				t.Errorf("%q begins a line of %q", line, p.Text)
			}
		}
	}
}
