package transcriptview

import (
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"

	"agentctl/protocol"
	"agentctl/tui/ui"
)

func TestADecisionLooksAsItIs(t *testing.T) {
	l := ui.NewStyles(time.UTC, "")
	for outcome, want := range map[protocol.Outcome]*lipgloss.Style{
		protocol.Allowed: &l.Success, protocol.Denied: &l.Error, protocol.Expired: &l.Error, protocol.Cancelled: &l.Error,
	} {
		d := &approvalItem{styles: l, item: &protocol.Item{
			ID: "r1", Approval: &protocol.Approval{Title: "Tidy", Command: "go mod tidy"}, Resolved: &protocol.ApprovalResolvedData{Outcome: outcome},
		}}
		b := d.Block(80, false)
		if len(b.Header) != 3 || !strings.Contains(b.Header[2], "$ go mod tidy") || len(b.Body) != 1 || b.RenderLine("x") != "   "+want.Render("x") {
			t.Errorf("%s: %q, %q, drawn %q", outcome, b.Header, b.Body, b.RenderLine("x"))
		}
		d.item.Approval.Title = "go mod tidy" // then it says it already
		if b := d.Block(80, false); len(b.Header) != 2 {
			t.Errorf("%s: said twice in %q", outcome, b.Header)
		}
		d.item.Approval = nil // the transcript begins behind the request
		if b := d.Block(80, false); len(b.Header) != 2 || !strings.Contains(b.Header[1], "approval r1") {
			t.Errorf("%s: %q", outcome, b.Header)
		}
	}
}
