package sandcastle

import (
	"bytes"
	"encoding/json"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// seeds are frames that say everything once, several to an input.
var serverSeeds = []string{
	call1(0, "SubscribeSession", `{"sessionId":"s"}`) + ack(0) + call1(1, "chat.subscribe", `{"sessionId":"s"}`),
	call1(0, "SendMessage", `{"sessionId":"s","content":"x","parts":[{"type":"text","text":"x"},{"type":"file","url":"u"},7],"clientMessageId":"c"}`),
	call1(2, "chat.send", `{"sessionId":"s","content":"x","mode":"plan"}`) + call1(3, "Interrupt", `{"sessionId":"s"}`),
	call1(4, "DequeueMessage", `{"sessionId":"s","messageId":"q"}`) + call1(5, "GetSessionState", `{"sessionId":"s"}`),
	call1(6, "chat.getHistory", `{"sessionId":"s","after":"t1"}`) + `{"_tag":"Interrupt","requestId":"6"}`,
	call1(7, "chat.respondToToolApproval", `{"type":"tool-approval-response","toolCallId":"r","toolName":"x","approved":true,"payload":{"type":"AskUserQuestionPayload","answers":{"k":["v"],"j":"w","l":7}}}`),
	`{"_tag":"Ping"}{"_tag":"Eof"}` + "\n\x00" + `{"_tag":` + "\x00" + `"Pong"}`,
	`{"_tag":"Request","id":9007199254740993,"tag":"chat.subscribe","payload":{"sessionId":"s"}}`,
	`[[[[[[[[`, `{"_tag":7}`, "\xff\xfe", `null`, `{"_tag":"Request","id":"1","payload":null,"tag":null}`,
}

// Hostile frames make no panic, nothing but valid messages and commands that our server takes, and no more of them than they
// are worth.
func FuzzServer(f *testing.F) {
	for _, s := range serverSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		d := newDoor(t)
		d.hostile = true
		d.add(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
		d.user("t1", "Hello")
		d.words("t1", "p", "a", "b")
		d.add(protocol.ApprovalRequested, "t1", protocol.Approval{Request: "r", Kind: protocol.ApproveQuestion, Options: []protocol.Option{}})
		messages := 0
		for _, frame := range bytes.SplitN(input, []byte{0}, 16) {
			messages += bytes.Count(frame, []byte("\n")) + 1
			d.asks(string(frame))
			if len(d.said) > 2*messages+4 {
				t.Fatalf("%d messages for %d", len(d.said), messages)
			}
			d.add(protocol.Notice, "t1", protocol.NoticeData{Message: "x"})
			d.happens()
		}
	})
}

var clientSeeds = []string{
	`{"_tag":"Chunk","requestId":"0","values":[` + idle + `,` + turnOne + `]}`,
	`{"_tag":"Chunk","requestId":"0","values":[` + idle + `]}` + "\x00" + `{"_tag":"Chunk","requestId":"0","values":[` + turnOne + `,` +
		chat("t1", `{"type":"text-delta","id":"p","delta":"x"}`) + `,` + chat("t1", `{"type":"tool-output-available","toolCallId":"x","output":{"content":[]},"preliminary":true}`) + `,` +
		chat("t1", `{"type":"tool-approval-request","toolCallId":"x","toolName":"ExitPlanMode"}`) + `,` +
		chat("t1", `{"type":"data-agentctl","data":{"type":"approval.requested","data":{"request":"r","options":null}}}`) + `,` +
		chat("t1", `{"type":"data-agentctl","data":{"type":"plan.updated","data":{"tasks":7}}}`) + `,` +
		`{"_tag":"SessionStopped","turnId":"t1","reason":"error"}]}`,
	`{"_tag":"Exit","requestId":"0","exit":{"_tag":"Failure","cause":{"_tag":"Sequential","left":{"_tag":"Fail","error":{}}}}}`,
	`{"_tag":"Defect","defect":"Unknown request tag: x"}` + "\x00" + `{"_tag":"Defect"}`,
	`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{"status":"queued"}}}` + "\n" + `{"_tag":"Pong"}`,
	`{"_tag":"Chunk","requestId":"0","values":[{"_tag":"InitialState","snapshot":{"historyCursor":{"lastMessageId":"a"}}}]}` + "\x00" +
		`{"_tag":"Exit","requestId":"4","exit":{"_tag":"Success","value":[{"id":"a","role":"assistant","parts":[{"type":"text","text":"x"},{"type":"tool-x","toolCallId":"c","state":"output-error"}]}]}}`,
	`{"_tag":"Defect","defect":"Unknown request tag: x"}` + "\x00" + `{"_tag":"Chunk","requestId":"2","values":[` + idle + `]}` + "\x00" +
		`[{"id":"a","role":"assistant","metadata":{"agentctl":{"reason":"x"}},"parts":[{"type":"text","text":"x"},7]}]`,
	`{"_tag":"Chunk","requestId":"0","values":[null,7,[],"x",{"_tag":"UserMessage","message":null}]}`, `{{{{`, "\xff\n", `null`,
}

// A hostile server makes no panic and no line that our client cannot fold.
func FuzzClient(f *testing.F) {
	for _, s := range clientSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		d := newDesk(t, &codec.ClientState{})
		d.does(protocol.DoSubscribe, "", nil)
		for _, verb := range []protocol.Verb{protocol.DoSnapshot, protocol.DoInterrupt} {
			d.does(verb, "", nil)
		}
		d.does(protocol.DoSend, "k", protocol.SendData{Text: "x"})
		for _, frame := range bytes.SplitN(input, []byte{0}, 16) {
			d.says(string(frame))
			size := 0
			for _, line := range d.lines {
				if !json.Valid([]byte(line)) {
					t.Fatalf("not JSON: %q", line)
				}
				size += len(line)
			}
			if size > 64<<10+400*len(input) {
				t.Fatalf("%d bytes for %d", size, len(input))
			}
			for _, said := range d.said {
				if !json.Valid([]byte(said)) {
					t.Fatalf("not JSON: %q", said)
				}
			}
			for _, path := range d.client.Paths() { // a hostile history, too
				d.work(d.client.PathRead(d.now, path, frame))
			}
			d.now = d.now.Add(pingEvery)
			d.work(d.client.Wake(d.now))
			d.does(protocol.DoHistory, "", nil)
			d.does(protocol.DoApprove, "", protocol.ApproveData{Decision: protocol.AllowOnce})
		}
	})
}
