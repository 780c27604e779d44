package server

import (
	"strings"
	"testing"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
)

func TestAnAnswerToAnApprovalIsReadInBothForms(t *testing.T) {
	response := `"type":"tool-approval-response","toolCallId":"r1","toolName":"ExitPlanMode","approved":false`
	for _, payload := range []string{
		`{"sessionId":"s","response":{` + response + `}}`, `{"sessionId":"s",` + response + `}`,
	} {
		d := newServerTest(t)
		d.StartTurn("t1", "hi")
		d.Append(protocol.ApprovalRequested, "t1", protocol.Approval{Request: "r1", Kind: protocol.ApprovePlan})
		d.Request(sandcastletest.RequestFrame(0, "chat.respondToToolApproval", payload))
		last := d.Commands[len(d.Commands)-1]
		if got := string(last.Data); last.Command != protocol.DoApprove || got != `{"request":"r1","decision":"deny"}` {
			t.Errorf("%s: %s %s", payload, last.Command, got)
		}
	}
	d := newServerTest(t)
	sent := d.Request(sandcastletest.RequestFrame(0, "chat.respondToToolApproval", `{"sessionId":"s"}`))
	if len(sent) != 1 || !strings.Contains(sent[0], `[\"response\"]`) {
		t.Errorf("without an answer: %s", sent)
	}
}

// Without a turnId the real client's connection ends for good.
func TestAnEventBetweenTurnsHasATurnID(t *testing.T) {
	d := newServerTest(t)
	d.Request(sandcastletest.RequestFrame(0, "chat.subscribe", `{"sessionId":"s"}`))
	title := "Tidy up"
	d.Append(protocol.SessionUpdated, "", protocol.SessionUpdatedData{Title: &title})
	d.Emit()
	sandcastletest.WantLines(t, d.Request(sandcastletest.AckFrame(0)), `{"_tag":"Chunk","requestId":"0","values":[{"_tag":"StreamEvent","turnId":"",`+
		`"event":{"type":"session-renamed","title":"Tidy up","sessionId":"s"}}]}`)
}

func TestTheHistoryHasTheMessageOfTheCurrentTurn(t *testing.T) {
	d := newServerTest(t)
	d.StartTurn("t1", "first")
	d.EndTurn("t1", protocol.ReasonCompleted)
	d.StartTurn("t2", "second")
	got := d.Request(sandcastletest.RequestFrame(0, "chat.getHistory", `{"sessionId":"s","afterMessageId":"t1"}`))
	sandcastletest.WantLines(t, got, `{"_tag":"Exit","requestId":"0","exit":{"_tag":"Success","value":{"messages":[`+
		`{"id":"mt2","sessionId":"s","role":"user","parts":[{"type":"text","text":"second"}],`+
		`"createdAt":"2026-03-01T12:00:03.000Z","clientMessageId":"ct2","turnId":"t2"}]}}}`)
}
