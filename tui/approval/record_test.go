package approval

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

// recordText returns all that a record shows, page by page.
func recordText(t *testing.T, r Record, width, height int) string {
	t.Helper()
	styles := ui.NewStyles(time.UTC, "")
	styles.Now = func() time.Time { return tuitest.Start }
	o := NewRecord(styles, r)
	var out strings.Builder
	for before := ""; ; {
		lines, _ := o.View(width, height)
		text := ansi.Strip(strings.Join(lines, "\n"))
		if text == before {
			return out.String()
		}
		for _, line := range strings.Split(text, "\n") {
			if ansi.StringWidth(line) > width {
				t.Errorf("%dx%d: a line of %d cells: %q", width, height, ansi.StringWidth(line), line)
			}
		}
		before = text
		out.WriteString(text + "\n")
		o.Update(tuitest.KeyPress("pgdown"))
	}
}

func TestARecordShowsTheWholeRequestAndItsDecision(t *testing.T) {
	at := tuitest.Start.Add(time.Minute)
	arguments, _ := json.Marshal(map[string]any{"confirm": true, "repository": "shop", "note": strings.Repeat("x", 300)})
	r := Record{
		Request: &protocol.Approval{
			Request: "r1", Kind: protocol.ApproveTool, Title: "Look at a page", Name: "mcp__github__delete_repository",
			CWD: "/home/ada/other", Input: arguments, Asked: tuitest.Start,
		},
		Resolved: &protocol.ApprovalResolvedData{
			Outcome: protocol.Allowed, Decision: protocol.AllowOnce, Reason: "it is a copy", At: &at,
		},
		By: &protocol.Actor{Name: "ada"}, Dir: "/home/ada/store",
	}
	for _, size := range [][2]int{{40, 12}, {40, 20}, {80, 24}, {120, 40}, {200, 60}} {
		text := recordText(t, r, size[0], size[1])
		joined := strings.NewReplacer("\n", "", " ", "", "↪", "", "▏", "").Replace(text)
		for _, want := range []string{
			"mcp__github__delete_repository", "/home/ada/other", `"confirm":true`, `"shop"`, "Lookatapage", "✓allowed",
			"decidedbyadaat09:42", "itisacopy",
		} {
			if !strings.Contains(joined, want) {
				t.Errorf("%v: no %q in\n%s", size, want, text)
			}
		}
		if n := strings.Count(joined, "x"); n < 300 {
			t.Errorf("%v: %d of 300 characters of the note are shown", size, n)
		}
	}
}

func TestARecordShowsWhatWasEdited(t *testing.T) {
	r := Record{
		Request: &protocol.Approval{Request: "r1", Kind: protocol.ApproveCommand, Command: "rm -rf /srv", Asked: tuitest.Start},
		Resolved: &protocol.ApprovalResolvedData{
			Outcome: protocol.Allowed, Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Command: "rm -rf build"},
		},
	}
	text := recordText(t, r, 80, 24)
	for _, want := range []string{"edited  ▏ rm -rf build", "was     ▏ rm -rf /srv", "ran instead"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	const patch = "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-x\n+%\n"
	r.Request = &protocol.Approval{
		Request: "r1", Kind: protocol.ApprovePatch, Patch: strings.ReplaceAll(patch, "%", "asked"), Asked: tuitest.Start,
	}
	r.Resolved.Input = &protocol.ApprovalInput{Patch: strings.ReplaceAll(patch, "%", "sent")}
	text = recordText(t, r, 80, 24)
	for _, want := range []string{"with an edited patch", "+ sent", "+asked"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestARecordShowsAnswers(t *testing.T) {
	r := Record{
		Request: &protocol.Approval{Request: "r1", Kind: protocol.ApproveQuestion, Asked: tuitest.Start, Questions: []protocol.Question{
			{ID: "q", Text: "Which database?", Choices: []protocol.Choice{{ID: "a", Label: "SQLite"}, {ID: "b", Label: "Postgres"}}},
		}},
		Resolved: &protocol.ApprovalResolvedData{
			Outcome: protocol.Allowed, Input: &protocol.ApprovalInput{Answers: map[string][]string{"q": {"b", "or none"}}},
		},
	}
	text := recordText(t, r, 80, 24)
	if !strings.Contains(text, "answer  ▏ Postgres") || !strings.Contains(text, "▏ or none") {
		t.Errorf("got\n%s", text)
	}
	r.Resolved = nil
	if text := recordText(t, r, 80, 24); !strings.Contains(text, "question · waiting") {
		t.Errorf("got\n%s", text)
	}
}

// No key of a record decides.
func TestARecordDecidesNothing(t *testing.T) {
	request := tuitest.CommandApproval()
	o := NewRecord(ui.NewStyles(time.UTC, ""), Record{Request: &request})
	for _, key := range []string{"y", "n", "a", "d", "r", "p", "1", "tab", "enter"} {
		if r := o.Update(tuitest.KeyPress(key)); r.Intent != nil || r.Push != nil {
			t.Errorf("%s: got %+v", key, r)
		}
	}
}
