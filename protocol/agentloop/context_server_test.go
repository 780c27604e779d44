package agentloop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A request for the context is always answered: without a session with zeros, and for an agent that
// does not report its context with an estimate from all of the transcript.
func TestTheContextIsEstimated(t *testing.T) {
	const ask = `{"id":"1","type":"get_context_info"}`
	none := newServerHarness(t, "", false)
	none.receive(ask)
	none.expectMessages(estimated(0, 0))

	h := newServerHarness(t, "", true)
	h.responder.Verbs = append(h.responder.Verbs, protocol.DoHistory)
	h.answer[protocol.DoContext] = func(*protocol.Command) any {
		return protocol.Errorf(protocol.CodeUnsupported, "no")
	}
	h.answer[protocol.DoHistory] = func(c *protocol.Command) any {
		var d protocol.HistoryData
		_ = json.Unmarshal(c.Data, &d)
		e := protocol.Event{
			Session: "s_1", Type: protocol.MessageUser, Turn: "t",
			Data: protocol.MustEncode(protocol.Message{Text: strings.Repeat("x", 40)}),
		}
		r := protocol.HistoryResult{Epoch: "e1", Events: []json.RawMessage{e.AppendJSON(nil)}, First: 9}
		if r.More = d.Before == 0; !r.More && d.Before != 9 {
			t.Errorf("asked for what is before %d", d.Before)
		}
		return r
	}
	h.receive(ask)
	h.expectMessages(estimated(20, 2)) // two pages
	h.record(asks("12345678"), entry(protocol.TextStart, protocol.PartStartData{Part: "p"}), speaks("p", "1234"),
		entry(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c", Input: json.RawMessage(`"34"`)}),
		entry(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c", Text: "1234"}),
		entry(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c"}))
	h.sentMessages()
	h.receive(ask)
	h.expectMessages(estimated(25, 6)) // with the turn under way
	h.record(codec.Entry{Type: protocol.TurnEnded, Turn: "t1", Data: protocol.TurnEndedData{}})
	h.sentMessages()
	h.receive(ask)
	h.expectMessages(estimated(20, 2)) // it is in the history now
}

func estimated(tokens, items int) string {
	return fmt.Sprintf(`context_info {"tokenCount":%d,"usagePercent":%v,"transcriptLength":%d,`+
		`"maxTokens":200000,"strategy":"estimate"}`, tokens, float64(tokens)/2000, items)
}
