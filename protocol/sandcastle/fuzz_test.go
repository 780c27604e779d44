package sandcastle

import (
	"bytes"
	"encoding/json"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// serverSeeds contain each client message, several to an input.
var serverSeeds = []string{
	requestFrame(0, "SubscribeSession", `{"sessionId":"s"}`) + ackFrame(0) + requestFrame(1, "chat.subscribe",
		`{"sessionId":"s"}`),
	requestFrame(0, "SendMessage",
		`{"sessionId":"s","content":"x","parts":[{"type":"text","text":"x"},{"type":"file","url":"u"},7],"clientMessageId":"c"}`),
	requestFrame(2, "chat.send", `{"sessionId":"s","content":"x","mode":"plan"}`) + requestFrame(3, "Interrupt",
		`{"sessionId":"s"}`),
	requestFrame(4, "DequeueMessage", `{"sessionId":"s","messageId":"q"}`) + requestFrame(5, "GetSessionState",
		`{"sessionId":"s"}`),
	requestFrame(6, "chat.getHistory", `{"sessionId":"s","after":"t1"}`) + `{"_tag":"Interrupt","requestId":"6"}`,
	requestFrame(7, "chat.respondToToolApproval",
		`{"type":"tool-approval-response","toolCallId":"r","toolName":"x","approved":true,"payload":{"type":"AskUserQuestionPayload","answers":{"k":["v"],"j":"w","l":7}}}`),
	`{"_tag":"Ping"}{"_tag":"Eof"}` + "\n\x00" + `{"_tag":` + "\x00" + `"Pong"}`,
	`{"_tag":"Request","id":9007199254740993,"tag":"chat.subscribe","payload":{"sessionId":"s"}}`,
	`[[[[[[[[`, `{"_tag":7}`, "\xff\xfe", `null`, `{"_tag":"Request","id":"1","payload":null,"tag":null}`,
}

// FuzzServer: for any frames the codec does not panic, and sends valid messages and commands, in
// bounded number.
func FuzzServer(f *testing.F) {
	for _, s := range serverSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		d := newServerTest(t)
		d.allowRefusals = true
		d.append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
		d.startTurn("t1", "Hello")
		d.appendText("t1", "p", "a", "b")
		d.append(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: "r", Kind: protocol.ApproveQuestion, Options: []protocol.Option{},
		})
		messages := 0
		for _, frame := range bytes.SplitN(input, []byte{0}, 16) {
			messages += bytes.Count(frame, []byte("\n")) + 1
			d.request(string(frame))
			if len(d.sent) > 2*messages+4 {
				t.Fatalf("%d messages for %d", len(d.sent), messages)
			}
			d.append(protocol.Notice, "t1", protocol.NoticeData{Message: "x"})
			d.emit()
		}
	})
}

var clientSeeds = []string{
	`{"_tag":"Chunk","requestId":"0","values":[` + idle + `,` + turnOne + `]}`,
	`{"_tag":"Chunk","requestId":"0","values":[` + idle + `]}` + "\x00" + `{"_tag":"Chunk","requestId":"0","values":[` +
		turnOne + `,` +
		streamEventJSON("t1", `{"type":"text-delta","id":"p","delta":"x"}`) + `,` + streamEventJSON("t1",
		`{"type":"tool-output-available","toolCallId":"x","output":{"content":[]},"preliminary":true}`) + `,` +
		streamEventJSON("t1", `{"type":"tool-approval-request","toolCallId":"x","toolName":"ExitPlanMode"}`) + `,` +
		streamEventJSON("t1",
			`{"type":"data-agentctl","data":{"type":"approval.requested","data":{"request":"r","options":null}}}`) +
		`,` +
		streamEventJSON("t1", `{"type":"data-agentctl","data":{"type":"plan.updated","data":{"tasks":7}}}`) + `,` +
		`{"_tag":"SessionStopped","turnId":"t1","reason":"error"}]}`,
	`{"_tag":"Exit","requestId":"0","exit":{"_tag":"Failure","cause":{"_tag":"Sequential","left":{"_tag":"Fail","error":{}}}}}`,
	`{"_tag":"Defect","defect":"Unknown request tag: x"}` + "\x00" + `{"_tag":"Defect"}`,
	`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{"status":"queued"}}}` + "\n" + `{"_tag":"Pong"}`,
	`{"_tag":"Chunk","requestId":"0","values":[{"_tag":"InitialState","snapshot":{"historyCursor":{"lastMessageId":"a"}}}]}` + "\x00" +
		`{"_tag":"Exit","requestId":"4","exit":{"_tag":"Success","value":[{"id":"a","role":"assistant","parts":[{"type":"text","text":"x"},{"type":"tool-x","toolCallId":"c","state":"output-error"}]}]}}`,
	`{"_tag":"Defect","defect":"Unknown request tag: x"}` + "\x00" + `{"_tag":"Chunk","requestId":"2","values":[` +
		idle + `]}` + "\x00" +
		`[{"id":"a","role":"assistant","metadata":{"agentctl":{"reason":"x"}},"parts":[{"type":"text","text":"x"},7]}]`,
	`{"_tag":"Chunk","requestId":"0","values":[null,7,[],"x",{"_tag":"UserMessage","message":null}]}`, `{{{{`, "\xff\n",
	`null`,
}

// FuzzClient: for any frames the codec does not panic, and the client's events apply.
func FuzzClient(f *testing.F) {
	for _, s := range clientSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		d := newClientTest(t, &codec.ClientState{})
		d.command(protocol.DoSubscribe, "", nil)
		for _, verb := range []protocol.Verb{protocol.DoSnapshot, protocol.DoInterrupt} {
			d.command(verb, "", nil)
		}
		d.command(protocol.DoSend, "k", protocol.SendData{Text: "x"})
		for _, frame := range bytes.SplitN(input, []byte{0}, 16) {
			d.receive(string(frame))
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
			for _, line := range d.sent {
				if !json.Valid([]byte(line)) {
					t.Fatalf("not JSON: %q", line)
				}
			}
			for _, path := range d.client.Paths() { // any history too
				d.deliver(d.client.PathRead(d.now, path, frame))
			}
			d.now = d.now.Add(pingEvery)
			d.deliver(d.client.Wake(d.now))
			d.command(protocol.DoHistory, "", nil)
			d.command(protocol.DoApprove, "", protocol.ApproveData{Decision: protocol.AllowOnce})
		}
	})
}
