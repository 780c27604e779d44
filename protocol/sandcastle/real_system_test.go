package sandcastle

import (
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

func TestAnAnswerToAnApprovalIsReadInBothForms(t *testing.T) {
	response := `"type":"tool-approval-response","toolCallId":"r1","toolName":"ExitPlanMode","approved":false`
	for _, payload := range []string{
		`{"sessionId":"s","response":{` + response + `}}`, `{"sessionId":"s",` + response + `}`,
	} {
		d := newServerTest(t)
		d.startTurn("t1", "hi")
		d.append(protocol.ApprovalRequested, "t1", protocol.Approval{Request: "r1", Kind: protocol.ApprovePlan})
		d.request(requestFrame(0, "chat.respondToToolApproval", payload))
		last := d.commands[len(d.commands)-1]
		if got := string(last.Data); last.Command != protocol.DoApprove || got != `{"request":"r1","decision":"deny"}` {
			t.Errorf("%s: %s %s", payload, last.Command, got)
		}
	}
	d := newServerTest(t)
	sent := d.request(requestFrame(0, "chat.respondToToolApproval", `{"sessionId":"s"}`))
	if len(sent) != 1 || !strings.Contains(sent[0], `[\"response\"]`) {
		t.Errorf("without an answer: %s", sent)
	}
}

// Without a turnId the real client's connection ends for good.
func TestAnEventBetweenTurnsHasATurnID(t *testing.T) {
	d := newServerTest(t)
	d.request(requestFrame(0, "chat.subscribe", `{"sessionId":"s"}`))
	title := "Tidy up"
	d.append(protocol.SessionUpdated, "", protocol.SessionUpdatedData{Title: &title})
	d.emit()
	wantLines(t, d.request(ackFrame(0)), `{"_tag":"Chunk","requestId":"0","values":[{"_tag":"StreamEvent","turnId":"",`+
		`"event":{"type":"session-renamed","title":"Tidy up","sessionId":"s"}}]}`)
}

func TestTheHistoryHasTheMessageOfTheCurrentTurn(t *testing.T) {
	d := newServerTest(t)
	d.startTurn("t1", "first")
	d.endTurn("t1", protocol.ReasonCompleted)
	d.startTurn("t2", "second")
	got := d.request(requestFrame(0, "chat.getHistory", `{"sessionId":"s","afterMessageId":"t1"}`))
	wantLines(t, got, `{"_tag":"Exit","requestId":"0","exit":{"_tag":"Success","value":{"messages":[`+
		`{"id":"mt2","sessionId":"s","role":"user","parts":[{"type":"text","text":"second"}],`+
		`"createdAt":"2026-03-01T12:00:03.000Z","clientMessageId":"ct2","turnId":"t2"}]}}}`)
}

func TestADefectIsReportedWithoutTheSchema(t *testing.T) {
	for defect, want := range map[string]string{
		`"{ a: string }\n└─ [\"response\"]\n   └─ is missing"`:                          `["response"] is missing`,
		`"{ a: x | y }\n├─ x\n│  └─ is wrong\n└─ y\n   └─ [\"b\"]\n      └─ no string"`: `y ["b"] no string`,
		`"boom"`: "boom",
		`{"name":"SyntaxError","message":"unexpected end"}`: "unexpected end",
		`{"other":1}`: `{"other":1}`,
	} {
		if got := defectText([]byte(defect)); got != want {
			t.Errorf("%s: %s, want %s", defect, got, want)
		}
	}
}

// After a frame that it cannot parse the real server answers everything with the same defect.
func TestAConnectionThatTheServerDoesNotReadIsClosed(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.command(protocol.DoSubscribe, "", nil)
	d.receive(`{"_tag":"Defect","defect":{"name":"SyntaxError","message":"unexpected end"}}`)
	if d.closed == nil || d.closed.Code != protocol.CloseGoingAway || d.answer("n1") == nil {
		t.Errorf("closed %+v, sent back %s", d.closed, d.lines)
	}
}

// The real server runs a message again that is sent again after its turn, and stores no
// clientMessageId.
func TestAStoredMessageIsNotSentAgain(t *testing.T) {
	before := `{"id":"m0","sessionId":"abc","role":"user","parts":[{"type":"text","text":"Hello"}],"createdAt":""},` +
		`{"id":"a0","sessionId":"abc","role":"assistant","parts":[],"createdAt":""}`
	now := `,{"id":"m1","sessionId":"abc","role":"user","parts":[{"type":"text","text":"Hello"}],"createdAt":""}`
	answered := now + `,{"id":"a1","sessionId":"abc","role":"assistant","parts":[],"createdAt":""}`
	for history, want := range map[string]string{
		before:            "chat.send",
		before + now:      `"message_id":"m1"`, // its turn failed
		before + answered: `"message_id":"m1"`,
		before + strings.ReplaceAll(answered, "Hello", "Bye"): "chat.send",
	} {
		memory := &codec.ClientState{Value: &capabilities{tags: chatTags, tagsKnown: true}}
		d := newClientTest(t, memory)
		d.command(protocol.DoSubscribe, "", nil)
		d.receiveChunk(0, strings.ReplaceAll(idle, `"lastMessageId":null`, `"lastMessageId":"a0"`))
		d.receive(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{"messages":[` + before + `]}}}`)
		d.command(protocol.DoSend, "key-1", protocol.SendData{Text: "Hello"})
		d = newClientTest(t, memory)
		d.command(protocol.DoSend, "key-1", protocol.SendData{Text: "Hello"})
		last := "a0"
		if strings.Contains(history, "a1") {
			last = "a1"
		}
		d.receiveChunk(0, strings.ReplaceAll(idle, `"lastMessageId":null`, `"lastMessageId":"`+last+`"`))
		d.receive(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{"messages":[` + history + `]}}}`)
		if got := strings.Join(append(d.sent, d.lines...), "\n"); !strings.Contains(got, want) ||
			want != "chat.send" && strings.Contains(got, "chat.send") {
			t.Errorf("%s:\n%s\nwant %s", history, got, want)
		}
	}
}
