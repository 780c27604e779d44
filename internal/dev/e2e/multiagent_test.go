package e2e

import (
	"context"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// The client follows and controls a session over the multiagent dialect as natively.
func TestTheClientUsesAServerOverMultiAgent(t *testing.T) {
	w := newTestServer(
		t, `{"on":"ask"}`, `{"ask":"command","command":"ls","title":"List files"}`, `{"say":"decided {decision}"}`,
	)
	c := wsclient.New(
		"ws://server/dialect/multiagent", wsclient.Options{Dialect: "multiagent", Name: "ada", Dial: w.dial},
	)
	t.Cleanup(func() { _ = c.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	id := do[protocol.CreateResult](t, c, protocol.DoCreate, "", protocol.CreateData{Agent: "main"}).Session
	sub := c.Subscribe(id, wsclient.SubscribeOptions{})
	defer sub.Close()
	if r := w.send(c, id, "ask"); r.Status != protocol.SendStarted {
		t.Fatalf("%+v", r)
	}
	text, decided := "", protocol.ApprovalResolvedData{}
	for it, err := range sub.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if it.Event == nil {
			continue
		}
		switch it.Event.Type {
		case protocol.ApprovalRequested:
			do[protocol.ApproveResult](t, c, protocol.DoApprove, id, protocol.ApproveData{Decision: protocol.AllowOnce})
		case protocol.ApprovalResolved:
			if err := it.Event.Decode(&decided); err != nil || it.Event.By == nil || it.Event.By.Name != "ada" {
				t.Errorf("%v, by %v", err, it.Event.By)
			}
		case protocol.TextDelta:
			var d protocol.PartDeltaData
			_ = it.Event.Decode(&d)
			text += d.Text
		}
		if it.Event.Type == protocol.TurnEnded {
			break
		}
	}
	if text != "decided allow_once" || decided.Outcome != protocol.Allowed {
		t.Errorf("%q, %+v", text, decided)
	}
	_, err := wsclient.Call[protocol.SendResult](ctx, c, protocol.DoSend, "nobody", protocol.SendData{Text: "x"})
	if protocol.CodeOf(err) != protocol.CodeNoSession {
		t.Errorf("unknown conversation: %v", err)
	}
}
