package transcriptview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	_ "agentctl/internal/dev/golden" // the flag -update
	"agentctl/protocol"
	"agentctl/tui/ui"
)

// applyTurns applies n finished turns of three items after the event at seq.
func applyTurns(t *testing.T, v *View, seq uint64, n int) (last uint64) {
	t.Helper()
	start := seq
	for i := range n {
		for _, e := range []struct {
			typ  protocol.Type
			data any
		}{
			{protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{Text: "question"}}},
			{protocol.TextStart, protocol.PartStartData{Part: "t"}},
			{protocol.TextEnd, protocol.PartEndData{Part: "t"}},
			{protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted}},
		} {
			seq++
			if err := v.Apply(&protocol.Event{
				Session: "s1", Seq: seq, Turn: fmt.Sprintf("turn-%d-%d", start, i), Time: time.Unix(0, 0),
				Type: e.typ, Data: protocol.MustEncode(e.data),
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return seq
}

func TestOldTurnsAreKeptWhileAPageIsLoading(t *testing.T) {
	v := New(ui.NewStyles(time.UTC, ""))
	v.Reset(100, &protocol.State{}, 60, 20)
	if _, ok := v.RequestPage(HistoryPage); !ok {
		t.Fatal("no page to request")
	}
	seq := applyTurns(t, v, 100, ItemsMax)
	if got := v.OlderThan(); got != 101 {
		t.Errorf("older than %d while the page before 101 is loading", got)
	}
	if err := v.PrependPage(&protocol.HistoryResult{First: 90, More: true}); err != nil {
		t.Fatal(err)
	}
	applyTurns(t, v, seq, 1)
	if got := v.OlderThan(); got <= 101 || v.List.Len() >= ItemsMax {
		t.Errorf("%d items are kept, older than %d", v.List.Len(), got)
	}
}

func TestFilesOfAMessageAndOfAToolAreOneLine(t *testing.T) {
	const image = "data:image/png;base64,QkFTRTY0REFUQQ=="
	styles := ui.NewStyles(time.UTC, "")
	message := &userMessage{styles: styles, message: protocol.Message{Text: "look", Parts: []protocol.Part{
		{Type: "image", Name: "a.png", URL: image}, {Type: "file", Name: "ci.log", Text: "FAIL"},
	}}}
	body := strings.Join(message.Block(80, false).Body, "\n")
	if want := "look\n[image a.png · image/png · 10 bytes]\n[file ci.log · 4 bytes]"; body != want {
		t.Errorf("message %q, want %q", body, want)
	}
	message.message.Text = ""
	if body := message.Block(80, false).Body; len(body) != 2 {
		t.Errorf("message without text %q", body)
	}
	call := &toolCall{styles: styles}
	call.item = &protocol.Item{Kind: protocol.ItemTool, Tool: &protocol.ToolItem{
		Content: []protocol.Content{
			{Type: "image", Path: "/tmp/shot.png", MediaType: "image/png", Data: protocol.MustEncode([]byte("PNG"))},
			{Type: "image", MediaType: "image/png", Blob: "b_1", Bytes: 50_000},
		},
		End: &protocol.ToolEndedData{Status: protocol.ToolCompleted},
	}}
	want := "[image shot.png · image/png · 3 bytes]\n[image · image/png · 48 KiB]"
	if body := strings.Join(call.Block(80, false).Body, "\n"); !strings.HasSuffix(body, want) {
		t.Errorf("tool %q, want %q", body, want)
	}
}
