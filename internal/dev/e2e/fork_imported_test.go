package e2e

import (
	"context"
	"strings"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// turnOf sends a message and returns when its turn has ended.
func turnOf(t *testing.T, c *wsclient.Client, session, text string) {
	t.Helper()
	at := do[protocol.SendResult](t, c, protocol.DoSend, session, protocol.SendData{Text: text}).Seq
	since := wsclient.SubscribeOptions{Since: &protocol.Position{Seq: at}}
	for it, err := range c.Subscribe(session, since).Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if it.Event != nil && it.Event.Type == protocol.TurnEnded {
			return
		}
	}
}

// An imported session is forked before its agent got the imported turns. The agent of the fork gets
// those of the fork, once.
func TestAnImportedSessionIsForkedBeforeItsFirstTurn(t *testing.T) {
	var body string
	w := newModelServer(t, func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
		body = string(r.Body)
		out.Text("Noted.")
	})
	ann := w.client("ann")
	first := do[protocol.CreateResult](t, ann, protocol.DoCreate, "", protocol.CreateData{CWD: t.TempDir()}).Session
	turnOf(t, ann, first, "the blueberry")
	turnOf(t, ann, first, "the raspberry")
	page := do[protocol.HistoryResult](t, ann, protocol.DoHistory, first, protocol.HistoryData{Limit: 100})
	d := protocol.ImportData{Events: page.Events}
	d.CWD = t.TempDir()
	imported := do[protocol.CreateResult](t, ann, protocol.DoImport, "", d).Session
	for name, c := range map[string]struct {
		fork protocol.ForkData
		want map[string]int // how often the model gets a word
	}{
		"of all":         {protocol.ForkData{}, map[string]int{"blueberry": 1, "raspberry": 1}},
		"through a turn": {protocol.ForkData{Turn: "1"}, map[string]int{"blueberry": 1, "raspberry": 0}},
		"before the first": {
			protocol.ForkData{Turn: "1", Before: true}, map[string]int{"blueberry": 0, "raspberry": 0},
		},
	} {
		id := do[protocol.CreateResult](t, ann, protocol.DoFork, imported, c.fork).Session
		for _, message := range []string{"the first plum", "the second plum"} {
			turnOf(t, ann, id, message)
			for word, n := range c.want {
				if got := strings.Count(body, word); got != n {
					t.Errorf("%s, %s: the model gets %s %d times, want %d", name, message, word, got, n)
				}
			}
		}
		if n := strings.Count(body, "the first plum"); n != 1 {
			t.Errorf("%s: the model gets the first message %d times", name, n)
		}
	}
	turnOf(t, ann, imported, "go on")
	if strings.Count(body, "blueberry") != 1 || strings.Count(body, "raspberry") != 1 {
		t.Errorf("the imported session: the model gets %s", body)
	}
}
