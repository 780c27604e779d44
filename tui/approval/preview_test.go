package approval

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

func TestAPreviewShowsTheCardWithoutTheForm(t *testing.T) {
	styles := ui.NewStyles(time.UTC, "")
	p := NewPreview(styles)
	long := protocol.Approval{
		Request: "r1", Kind: protocol.ApproveCommand, Asked: tuitest.Start, Name: "bash",
		Command: "set -e\n" + strings.Repeat("echo step\n", 40) + "echo last",
	}
	other := protocol.Approval{Request: "r2", Kind: protocol.ApproveTool, Name: "mcp__github__delete_repository"}
	for _, size := range [][2]int{{20, 3}, {40, 8}, {80, 20}, {200, 60}} {
		width, rows := size[0], size[1]
		for _, r := range []*protocol.Approval{&long, &other, &long} {
			lines := p.View(r, "/work", "y decides", false, width, rows)
			if len(lines) > rows {
				t.Errorf("%v: got %d lines", size, len(lines))
			}
			for _, line := range lines {
				if got := ansi.StringWidth(line); got != width {
					t.Errorf("%v: got a line of %d cells: %q", size, got, line)
				}
			}
			text := ansi.Strip(strings.Join(lines, "\n"))
			if r == &other && rows > 3 && !strings.Contains(text, "mcp__github") || strings.Contains(text, "Allow") {
				t.Errorf("%v: got\n%s", size, text)
			}
			if r == &long && rows == 20 && !(strings.Contains(text, "echo last") && strings.Contains(text, "lines not shown")) {
				t.Errorf("%v: got\n%s", size, text)
			}
			if rows == 20 && !strings.Contains(text, "y decides") {
				t.Errorf("%v: no hint in\n%s", size, text)
			}
		}
	}
	question := protocol.Approval{Request: "r3", Kind: protocol.ApproveQuestion, Questions: []protocol.Question{
		{ID: "q", Text: "Which database?", Choices: []protocol.Choice{{ID: "a", Label: "SQLite"}}},
	}}
	text := ansi.Strip(strings.Join(p.View(&question, "/work", "", false, 80, 20), "\n"))
	if !strings.Contains(text, "Which database?") || !strings.Contains(text, "SQLite") {
		t.Errorf("a question: got\n%s", text)
	}
	if got := p.View(&long, "/work", "", false, 80, 2); got != nil {
		t.Errorf("two rows: got %q", got)
	}
	for above, want := range []int{1, 0} {
		titled := protocol.Approval{Request: "r4", Kind: protocol.ApproveCommand, Title: "Run it", Command: "make"}
		text := ansi.Strip(strings.Join(p.View(&titled, "/work", "", above == 1, 80, 20), "\n"))
		if got := strings.Count(text, "Run it"); got != want || !strings.Contains(text, "make") {
			t.Errorf("the line above has the title: %t: got\n%s", above == 1, text)
		}
	}
}
