package agentloop

import (
	"encoding/json"
	"testing"

	"agentctl/protocol"
)

// The server tells what is past to nobody: what was heard before the link broke stays with our client.
func TestWhatWasHeardOutlivesItsConnection(t *testing.T) {
	memory := new(protocol.Memory)
	g := newGuest(t, "ws://x/fix", memory)
	said := func(id, text string) string {
		return `{"id":"1","type":"response_item","payload":{"id":"` + id + `","type":"message","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}}`
	}
	loading := func(on string) string { return `{"id":"1","type":"loading_state","payload":{"loading":` + on + `}}` }
	g.hears(loading("true"), said("a", "the whole"), loading("false"))
	g.hears(loading("true"), said("b", "a part"), `{"id":"2","type":"approval_request","payload":{"command":["ls"]}}`)

	g = newGuest(t, "ws://x/fix", memory)
	if g.state.Turn != nil || len(g.state.Approvals) != 0 || g.state.Turns != 2 {
		t.Fatalf("begins with %+v", g.state)
	}
	past := new(protocol.Transcript)
	g.do(protocol.DoHistory, protocol.HistoryData{Before: g.state.Seq + 1})
	for _, raw := range resultOf[protocol.HistoryResult](g).Events {
		var e protocol.Event
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		if _, err := past.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	if len(past.Turns) != 2 {
		t.Fatalf("%d turns of before", len(past.Turns))
	}
	whole, cut := past.Turns[0], past.Turns[1]
	if whole.Items[0].Text.String() != "the whole" || whole.End.Reason != protocol.ReasonCompleted {
		t.Errorf("of the first turn %+v", whole.Items[0])
	}
	if cut.Items[0].Text.String() != "a part" || cut.End.Reason != protocol.ReasonError || cut.Items[1].Resolved.Outcome != protocol.Cancelled {
		t.Errorf("of the second turn %+v", cut.Items[0])
	}
	g.hears(loading("true"), said("b", "a part and all"), loading("false"))
	if now := g.transcript.Current(); now.Items[0].Text.String() != "a part and all" || now.Turn == cut.Turn {
		t.Errorf("told anew %+v", now)
	}
}
