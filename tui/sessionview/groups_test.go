package sessionview

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestToolCallsOfAGroupHaveNoBlankRowsBetween(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	for _, id := range []string{"c1", "c2", "c3"} {
		j.Tool(id, protocol.ToolStartedData{Title: "call " + id}, "")
		j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: id, Status: protocol.ToolCompleted, DurationMS: 40})
	}
	j.Text("t1", "Done.")
	j.CaughtUp()
	s := open(t, j, 80, 24)
	var got []string
	for line := range strings.Lines(s.text()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := "▎ go\n\n✓ call c1 40ms\n✓ call c2 40ms\n✓ call c3 40ms\n\n▏ agent 09:41\n▏ Done."
	if all := strings.Join(got, "\n"); !strings.Contains(all, want) {
		t.Errorf("got screen\n%s\nwant in it\n%s", all, want)
	}
}

func TestStateOfAToolCallHasAGlyphAndAWord(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	j.Tool("c1", protocol.ToolStartedData{Title: "push"}, "")
	j.RequestApproval(protocol.Approval{Request: "r1", Kind: protocol.ApproveTool, Title: "Push?", Tool: "c1"})
	j.CaughtUp()
	s := open(t, j, 80, 40)
	s.mustShow("◌ push", "waiting for a decision")
	if s.mustHide("◐"); strings.Contains(s.m.View().Content, "\x1b[9m") {
		t.Error("the waiting call is struck")
	}
	s.journal.Add(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Denied})
	s.applyJournal()
	s.mustShow("◐ push", "running")
	s.journal.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolDenied})
	s.applyJournal()
	s.mustShow("⊘ push", "denied")
	if !strings.Contains(s.m.View().Content, "\x1b[9m") {
		t.Error("the denied call is not struck")
	}
}

func TestProseIsAtMost100ColumnsWide(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", strings.Repeat("question ", 60))
	j.Text("t1", strings.Repeat("answer ", 60)+"\n\n```\n"+strings.Repeat("x", 150)+"\n```\n")
	j.CaughtUp()
	s := open(t, j, 200, 40)
	for line := range strings.Lines(s.text()) {
		prose := strings.Contains(line, "question") || strings.Contains(line, "answer")
		if n := ansi.StringWidth(strings.TrimRight(line, "\n")); prose && n > 103 {
			t.Errorf("a line of prose ends at column %d: %q", n, line)
		}
	}
	s.mustShow(strings.Repeat("x", 150))
}
