package transcriptview

import (
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/tui/ui"
)

func TestApprovalItemBlock(t *testing.T) {
	styles := ui.NewStyles(time.UTC, "")
	for outcome, want := range map[protocol.Outcome]*ui.Style{
		protocol.Allowed:   &styles.Success,
		protocol.Denied:    &styles.Error,
		protocol.Expired:   &styles.Error,
		protocol.Cancelled: &styles.Error,
	} {
		a := &approvalItem{styles: styles}
		a.item = &protocol.Item{
			ID:       "r1",
			Approval: &protocol.Approval{Title: "Tidy", Command: "go mod tidy"},
			Resolved: &protocol.ApprovalResolvedData{Outcome: outcome},
		}
		b := a.Block(80, false)
		if len(b.Header) != 3 || !strings.Contains(b.Header[2], "$ go mod tidy") {
			t.Errorf("%s: got header %q, want 3 lines with the command last", outcome, b.Header)
		}
		if len(b.Body) != 1 {
			t.Errorf("%s: got body %q, want 1 line", outcome, b.Body)
		}
		if got, want := b.RenderLine("x"), "   "+want.Render("x"); got != want {
			t.Errorf("%s: RenderLine(x) = %q, want %q", outcome, got, want)
		}
		a.item.Approval.Title = "go mod tidy" // equal to the command
		if b := a.Block(80, false); len(b.Header) != 2 {
			t.Errorf("%s: got header %q, want the command once", outcome, b.Header)
		}
		a.item.Approval.Title, a.item.Approval.Kind = "", "command"
		if b := a.Block(80, false); len(b.Header) != 3 || !strings.Contains(b.Header[1], "? command") {
			t.Errorf("%s: got header %q, want the kind for an empty title", outcome, b.Header)
		}
		a.item.Approval = nil // the transcript begins after the request
		if b := a.Block(80, false); len(b.Header) != 2 || !strings.Contains(b.Header[1], "approval r1") {
			t.Errorf("%s: got header %q, want the request id as title", outcome, b.Header)
		}
	}
}
