package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/agentlooptest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A request for the context is always answered: without a session with zeros, and for an agent that
// does not report its context with an estimate from all of the transcript.
func TestTheContextIsEstimated(t *testing.T) {
	const ask = `{"id":"1","type":"get_context_info"}`
	none := newServerHarness(t, "", false)
	none.Receive(ask)
	none.ExpectMessages(estimated(0, 0))

	h := newServerHarness(t, "", true)
	h.Responder.Verbs = append(h.Responder.Verbs, protocol.DoHistory)
	h.Answer[protocol.DoContext] = func(*protocol.Command) any {
		return protocol.Errorf(protocol.CodeUnsupported, "no")
	}
	h.Answer[protocol.DoHistory] = func(c *protocol.Command) any {
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
	h.Receive(ask)
	h.ExpectMessages(estimated(20, 2)) // two pages
	h.Record(agentlooptest.Asks("12345678"), agentlooptest.Entry(protocol.TextStart, protocol.PartStartData{Part: "p"}), agentlooptest.Speaks("p", "1234"),
		agentlooptest.Entry(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c", Input: json.RawMessage(`"34"`)}),
		agentlooptest.Entry(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c", Text: "1234"}),
		agentlooptest.Entry(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c"}))
	h.SentMessages()
	h.Receive(ask)
	h.ExpectMessages(estimated(25, 6)) // with the current turn
	h.Record(codec.Entry{Type: protocol.TurnEnded, Turn: "t1", Data: protocol.TurnEndedData{}})
	h.SentMessages()
	h.Receive(ask)
	h.ExpectMessages(estimated(20, 2)) // it is in the history now
}

func estimated(tokens, items int) string {
	return fmt.Sprintf(`context_info {"tokenCount":%d,"usagePercent":%v,"transcriptLength":%d,`+
		`"maxTokens":200000,"strategy":"estimate"}`, tokens, float64(tokens)/2000, items)
}
