package sandcastle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// SC-45: messages can share a frame or span several. A message alone in its frame needs no newline.
func TestRequestsComeInAnyPackets(t *testing.T) {
	all := requestFrame(0, "chat.subscribe", `{"sessionId":"s"}`) + requestFrame(1, "GetSessionState",
		`{"sessionId":"s"}`) + "{\"_tag\":\"Ping\"}\n" +
		requestFrame(2, "Interrupt", `{"sessionId":"s"}`) + "{\"_tag\":\"Eof\"}\n" + requestFrame(3, "nope", `{}`)
	const snapshot = `{"status":"idle","activeTurnId":null,"queue":[],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}}`
	want := []string{
		`{"_tag":"Chunk","requestId":"0","values":[{"_tag":"InitialState","snapshot":` + snapshot + `,"buffer":[]}]}`,
		`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":` + snapshot + `}}`,
		`{"_tag":"Exit","requestId":"2","exit":{"_tag":"Success","value":{"interrupted":false}}}`,
		`{"_tag":"Exit","requestId":"3","exit":{"_tag":"Failure","cause":{"_tag":"Die","defect":"Unknown request tag: nope"}}}`, `{"_tag":"Pong"}`,
	}
	sizes := []int{1, 2, 3, 7, 50, 110, 300, len(all) - 1, len(all)}
	for _, size := range sizes {
		d := newServerTest(t)
		d.append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
		var sent []string
		for rest := all; rest != ""; {
			n := min(size, len(rest))
			sent = append(sent, d.request(rest[:n])...)
			rest = rest[n:]
		}
		slices.Sort(sent) // answers can overtake each other
		wantLines(t, sent, want...)
		d.startTurn("t1", "still here") // the stream goes on
		d.emit()
		if got := eventTags(sessionEvents(t,
			d.request(strings.TrimSuffix(ackFrame(0), "\n")))); got != "UserMessage SessionStarted start" {
			t.Errorf("in frames of %d bytes the stream then sends %q", size, got)
		}
	}
}

// The same at the client, which acknowledges each chunk.
func TestAnswersComeInAnyPackets(t *testing.T) {
	for size := 1; size < 2000; size = size*3 + 1 {
		d := newClientTest(t, &codec.ClientState{
			Value: &capabilities{tags: chatTags, tagsKnown: true, noHistory: true},
		})
		d.command(protocol.DoSubscribe, "", nil)
		all := fmt.Sprintf(`{"_tag":"Chunk","requestId":"0","values":[%s]}`+"\n"+`{"_tag":"Pong"}`+"\n"+
			`{"_tag":"Chunk","requestId":"0","values":[%s,%s]}`+"\n"+
			`{"_tag":"Chunk","requestId":"0","values":[{"_tag":"SessionStopped","turnId":"t1","reason":"completed"}]}`+"\n",
			idle, turnOne, streamEventJSON("t1", `{"type":"text-delta","id":"p","delta":"你好"}`))
		acks := 0
		for rest := all; rest != ""; {
			n := min(size, len(rest))
			d.deliver(d.client.Foreign(d.now, codec.Frame{Data: []byte(rest[:n])}))
			acks += strings.Count(strings.Join(d.sent, ""), `"Ack"`)
			rest = rest[n:]
		}
		if last := d.state.Last; acks != 3 || d.state.Turns != 1 || last == nil ||
			last.Reason != protocol.ReasonCompleted {
			t.Errorf("in frames of %d bytes: %d acknowledged, %+v", size, acks, d.state)
		}
	}
}

// SC-47: whatever the cause of a stream's end during a turn, the turn continues after reopening.
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
			Value: &capabilities{tags: chatTags, tagsKnown: true, noHistory: true},
		})
		d.subscribe()
		d.receiveChunk(0, turnOne, streamEventJSON("t1", one))
		d.receive(`{"_tag":"Exit","requestId":"0","exit":` + exit + `}`)
		if d.state.Turn == nil || d.closed != nil {
			t.Fatalf("%s: the turn ended", exit)
		}
		d.now = d.wake
		d.deliver(d.client.Wake(d.now))
		if len(d.sent) != 1 || !strings.Contains(d.sent[0], `"id":"1","tag":"chat.subscribe"`) {
			t.Fatalf("%s: sent %s", exit, d.sent)
		}
		active := strings.ReplaceAll(idle, `"activeTurnId":null`, `"activeTurnId":"t1"`)
		d.receiveChunk(1, strings.ReplaceAll(active, `"buffer":[]`, `"buffer":[`+one+`,`+two+`]`))
		if got := d.nativeTypes(); got != "text.delta" || !strings.Contains(d.lines[0], "two") {
			t.Errorf("%s: then recorded %s", exit, d.lines)
		}
	}
}

// SC-14: the invalid input of a call is recorded.
func TestAnInputThatIsWrongIsShown(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.subscribe()
	d.receiveChunk(0, turnOne,
		streamEventJSON("t1",
			`{"type":"tool-input-error","toolCallId":"x","toolName":"Look","input":{"at":7},"errorText":"no number"}`))
	if got := d.nativeTypes(); got != "message.user turn.started tool.started tool.input tool.ended" ||
		!strings.Contains(d.lines[3], `"input":{"at":7}`) ||
		!strings.Contains(d.lines[4], `"status":"failed","error":"no number"`) {
		t.Errorf("recorded %s", d.lines)
	}
}
