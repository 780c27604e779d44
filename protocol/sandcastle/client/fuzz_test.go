package client

import (
	"bytes"
	"encoding/json"
	"testing"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

var clientSeeds = []string{
	`{"_tag":"Chunk","requestId":"0","values":[` + sandcastletest.Idle + `,` + sandcastletest.TurnOne + `]}`,
	`{"_tag":"Chunk","requestId":"0","values":[` + sandcastletest.Idle + `]}` + "\x00" + `{"_tag":"Chunk","requestId":"0","values":[` +
		sandcastletest.TurnOne + `,` +
		sandcastletest.StreamEventJSON("t1", `{"type":"text-delta","id":"p","delta":"x"}`) + `,` + sandcastletest.StreamEventJSON("t1",
		`{"type":"tool-output-available","toolCallId":"x","output":{"content":[]},"preliminary":true}`) + `,` +
		sandcastletest.StreamEventJSON("t1", `{"type":"tool-approval-request","toolCallId":"x","toolName":"ExitPlanMode"}`) + `,` +
		sandcastletest.StreamEventJSON("t1",
			`{"type":"data-agentctl","data":{"type":"approval.requested","data":{"request":"r","options":null}}}`) +
		`,` +
		sandcastletest.StreamEventJSON("t1", `{"type":"data-agentctl","data":{"type":"plan.updated","data":{"tasks":7}}}`) + `,` +
		`{"_tag":"SessionStopped","turnId":"t1","reason":"error"}]}`,
	`{"_tag":"Exit","requestId":"0","exit":{"_tag":"Failure","cause":{"_tag":"Sequential","left":{"_tag":"Fail","error":{}}}}}`,
	`{"_tag":"Defect","defect":"Unknown request tag: x"}` + "\x00" + `{"_tag":"Defect"}`,
	`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{"status":"queued"}}}` + "\n" + `{"_tag":"Pong"}`,
	`{"_tag":"Chunk","requestId":"0","values":[{"_tag":"InitialState","snapshot":{"historyCursor":{"lastMessageId":"a"}}}]}` + "\x00" +
		`{"_tag":"Exit","requestId":"4","exit":{"_tag":"Success","value":[{"id":"a","role":"assistant","parts":[{"type":"text","text":"x"},{"type":"tool-x","toolCallId":"c","state":"output-error"}]}]}}`,
	`{"_tag":"Defect","defect":"Unknown request tag: x"}` + "\x00" + `{"_tag":"Chunk","requestId":"2","values":[` +
		sandcastletest.Idle + `]}` + "\x00" +
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
		d.Command(protocol.DoSubscribe, "", nil)
		for _, verb := range []protocol.Verb{protocol.DoSnapshot, protocol.DoInterrupt} {
			d.Command(verb, "", nil)
		}
		d.Command(protocol.DoSend, "k", protocol.SendData{Text: "x"})
		for _, frame := range bytes.SplitN(input, []byte{0}, 16) {
			d.Receive(string(frame))
			size := 0
			for _, line := range d.Lines {
				if !json.Valid([]byte(line)) {
					t.Fatalf("not JSON: %q", line)
				}
				size += len(line)
			}
			if size > 64<<10+400*len(input) {
				t.Fatalf("%d bytes for %d", size, len(input))
			}
			for _, line := range d.Sent {
				if !json.Valid([]byte(line)) {
					t.Fatalf("not JSON: %q", line)
				}
			}
			for _, path := range codecOf(d).Paths() { // any history too
				d.Deliver(codecOf(d).PathRead(d.Now, path, frame))
			}
			d.Now = d.Now.Add(pingEvery)
			d.Deliver(d.Codec.Wake(d.Now))
			d.Command(protocol.DoHistory, "", nil)
			d.Command(protocol.DoApprove, "", protocol.ApproveData{Decision: protocol.AllowOnce})
		}
	})
}
