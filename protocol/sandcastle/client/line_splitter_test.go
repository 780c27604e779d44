package client

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// The same at the client, which acknowledges each chunk.
func TestAnswersComeInAnyPackets(t *testing.T) {
	for size := 1; size < 2000; size = size*3 + 1 {
		d := newClientTest(t, &codec.ClientState{
			Value: &capabilities{tags: wire.ChatTags, tagsKnown: true, noHistory: true},
		})
		d.Command(protocol.DoSubscribe, "", nil)
		all := fmt.Sprintf(`{"_tag":"Chunk","requestId":"0","values":[%s]}`+"\n"+`{"_tag":"Pong"}`+"\n"+
			`{"_tag":"Chunk","requestId":"0","values":[%s,%s]}`+"\n"+
			`{"_tag":"Chunk","requestId":"0","values":[{"_tag":"SessionStopped","turnId":"t1","reason":"completed"}]}`+"\n",
			sandcastletest.Idle, sandcastletest.TurnOne, sandcastletest.StreamEventJSON("t1", `{"type":"text-delta","id":"p","delta":"你好"}`))
		acks := 0
		for rest := all; rest != ""; {
			n := min(size, len(rest))
			d.Deliver(d.Codec.Foreign(d.Now, codec.Frame{Data: []byte(rest[:n])}))
			acks += strings.Count(strings.Join(d.Sent, ""), `"Ack"`)
			rest = rest[n:]
		}
		if last := d.State.Last; acks != 3 || d.State.Turns != 1 || last == nil ||
			last.Reason != protocol.ReasonCompleted {
			t.Errorf("in frames of %d bytes: %d acknowledged, %+v", size, acks, d.State)
		}
	}
}

// SC-47: however a stream ends during a turn, the turn continues after reopening.
func TestAStreamMayEndWithAnyCause(t *testing.T) {
	const one, two = `{"type":"text-delta","id":"p","delta":"one "}`, `{"type":"text-delta","id":"p","delta":"two"}`
	for _, exit := range []string{
		`{"_tag":"Success"}`, `{"_tag":"Success","value":null}`,
		`{"_tag":"Failure","cause":{"_tag":"Die","defect":"boom"}}`,
		`{"_tag":"Failure","cause":{"_tag":"Die","defect":{"name":"Error","message":"boom"}}}`,
		`{"_tag":"Failure","cause":{"_tag":"Interrupt","fiberId":{"_tag":"Runtime","id":-499,"startTimeMillis":0}}}`,
		`{"_tag":"Failure","cause":{"_tag":"Sequential","left":{"_tag":"Interrupt","fiberId":{"_tag":"None"}},"right":{"_tag":"Empty"}}}`,
		`{"_tag":"Failure","cause":{"_tag":"Parallel","left":{"_tag":"Empty"},"right":{"_tag":"Die","defect":1}}}`,
		`{"_tag":"Failure","cause":{"_tag":"Fail","error":{"message":"no","_tag":"ChatOperationRpcError"}}}`,
		`{"_tag":"Failure"}`, `7`,
	} {
		d := newClientTest(t, &codec.ClientState{
			Value: &capabilities{tags: wire.ChatTags, tagsKnown: true, noHistory: true},
		})
		d.Subscribe()
		d.ReceiveChunk(0, sandcastletest.TurnOne, sandcastletest.StreamEventJSON("t1", one))
		d.Receive(`{"_tag":"Exit","requestId":"0","exit":` + exit + `}`)
		if d.State.Turn == nil || d.Closed != nil {
			t.Fatalf("%s: the turn ended", exit)
		}
		d.Now = d.Wake
		d.Deliver(d.Codec.Wake(d.Now))
		if len(d.Sent) != 1 || !strings.Contains(d.Sent[0], `"id":"1","tag":"chat.subscribe"`) {
			t.Fatalf("%s: sent %s", exit, d.Sent)
		}
		active := strings.ReplaceAll(sandcastletest.Idle, `"activeTurnId":null`, `"activeTurnId":"t1"`)
		d.ReceiveChunk(1, strings.ReplaceAll(active, `"buffer":[]`, `"buffer":[`+one+`,`+two+`]`))
		if got := d.NativeTypes(); got != "text.delta" || !strings.Contains(d.Lines[0], "two") {
			t.Errorf("%s: then recorded %s", exit, d.Lines)
		}
	}
}

// SC-14: the invalid input of a call is recorded.
func TestAnInputThatIsWrongIsShown(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.Subscribe()
	d.ReceiveChunk(0, sandcastletest.TurnOne,
		sandcastletest.StreamEventJSON("t1",
			`{"type":"tool-input-error","toolCallId":"x","toolName":"Look","input":{"at":7},"errorText":"no number"}`))
	if got := d.NativeTypes(); got != "message.user turn.started tool.started tool.input tool.ended" ||
		!strings.Contains(d.Lines[3], `"input":{"at":7}`) ||
		!strings.Contains(d.Lines[4], `"status":"failed","error":"no number"`) {
		t.Errorf("recorded %s", d.Lines)
	}
}
