package server

import (
	"bytes"
	"testing"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
)

// serverSeeds contain each client message, several to an input.
var serverSeeds = []string{
	sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"s"}`) + sandcastletest.AckFrame(0) + sandcastletest.RequestFrame(1, "chat.subscribe",
		`{"sessionId":"s"}`),
	sandcastletest.RequestFrame(0, "SendMessage",
		`{"sessionId":"s","content":"x","parts":[{"type":"text","text":"x"},{"type":"file","url":"u"},7],"clientMessageId":"c"}`),
	sandcastletest.RequestFrame(2, "chat.send", `{"sessionId":"s","content":"x","mode":"plan"}`) + sandcastletest.RequestFrame(3, "Interrupt",
		`{"sessionId":"s"}`),
	sandcastletest.RequestFrame(4, "DequeueMessage", `{"sessionId":"s","messageId":"q"}`) + sandcastletest.RequestFrame(5, "GetSessionState",
		`{"sessionId":"s"}`),
	sandcastletest.RequestFrame(6, "chat.getHistory", `{"sessionId":"s","after":"t1"}`) + `{"_tag":"Interrupt","requestId":"6"}`,
	sandcastletest.RequestFrame(7, "chat.respondToToolApproval",
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
		d.AllowRefusals = true
		d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
		d.StartTurn("t1", "Hello")
		d.AppendText("t1", "p", "a", "b")
		d.Append(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: "r", Kind: protocol.ApproveQuestion, Options: []protocol.Option{},
		})
		messages := 0
		for _, frame := range bytes.SplitN(input, []byte{0}, 16) {
			messages += bytes.Count(frame, []byte("\n")) + 1
			d.Request(string(frame))
			if len(d.Sent) > 2*messages+4 {
				t.Fatalf("%d messages for %d", len(d.Sent), messages)
			}
			d.Append(protocol.Notice, "t1", protocol.NoticeData{Message: "x"})
			d.Emit()
		}
	})
}
