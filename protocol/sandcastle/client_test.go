package sandcastle

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A desk is a client codec whose foreign side is a test that plays the real server.
type desk struct {
	t      *testing.T
	client *Client
	now    time.Time
	said   []string // to the server
	lines  []string // to our client
	state  *protocol.State
	last   int
	closed *codec.Close
	wake   time.Time
}

func newDesk(t *testing.T, memory *codec.ClientState) *desk {
	ids := 0
	d := &desk{t: t, now: noon}
	d.client = NewClient(codec.ClientOptions{Name: "ada", Resume: memory, ID: func(p string) string { ids++; return fmt.Sprint(p, "_", ids) }})
	d.work(d.client.Open(noon))
	return d
}

func (d *desk) work(out codec.Output) {
	d.t.Helper()
	d.said, d.lines, d.closed, d.wake = nil, nil, out.Close, out.Wake
	for _, f := range out.Foreign {
		if f.Binary || !strings.HasSuffix(string(f.Data), "\n") {
			d.t.Errorf("not a text frame that ends in a newline: %q", f.Data)
		}
		d.said = append(d.said, strings.TrimSuffix(string(f.Data), "\n"))
	}
	for _, line := range out.Native {
		d.lines = append(d.lines, string(line))
		e, a, err := protocol.DecodeIncoming(line)
		if err != nil {
			d.t.Fatal(err)
		}
		if a != nil {
			if r := result[protocol.SubscribeResult](*a); r.Snapshot != nil && r.Mode != "" {
				d.state = r.Snapshot.State
			}
			continue
		}
		if err := d.state.Apply(e); err != nil {
			d.t.Fatalf("%s: %v", line, err)
		}
	}
}

// does sends a command of our client.
func (d *desk) does(verb protocol.Verb, key string, data any) *protocol.Answer {
	d.t.Helper()
	d.last++
	c := protocol.Command{ID: fmt.Sprintf("n%d", d.last), Command: verb, Session: "abc", Key: key}
	if ct := protocol.CommandOf(verb); !ct.Session {
		c.Session = ""
	}
	if data != nil {
		c.Data = protocol.MustEncode(data)
	}
	d.work(d.client.Native(d.now, protocol.MustEncode(c)))
	return d.answer(c.ID)
}

func (d *desk) answer(id string) *protocol.Answer {
	for _, line := range d.lines {
		if _, a, _ := protocol.DecodeIncoming([]byte(line)); a != nil && a.ID == id {
			return a
		}
	}
	return nil
}

// says lets the server say something.
func (d *desk) says(frame string) {
	d.t.Helper()
	d.work(d.client.Foreign(d.now, codec.Frame{Data: []byte(frame + "\n")}))
}

func (d *desk) chunk(id int, values ...string) {
	d.t.Helper()
	d.says(fmt.Sprintf(`{"_tag":"Chunk","requestId":"%d","values":[%s]}`, id, strings.Join(values, ",")))
}

func (d *desk) types() string {
	var list []string
	for _, line := range d.lines {
		if e, _, _ := protocol.DecodeIncoming([]byte(line)); e != nil {
			list = append(list, string(e.Type))
		} else {
			list = append(list, "answer")
		}
	}
	return strings.Join(list, " ")
}

const idle = `{"_tag":"InitialState","snapshot":{"status":"idle","activeTurnId":null,"queue":[],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}},"buffer":[]}`

// follows subscribes to an idle session; the stream is request 0.
func (d *desk) follows() {
	d.t.Helper()
	d.does(protocol.DoSubscribe, "", nil)
	d.chunk(0, idle)
	if d.types() != "answer session.created caught_up" {
		d.t.Fatalf("%s", d.lines)
	}
}

const turnOne = `{"_tag":"UserMessage","message":{"id":"m1","content":"Hello","parts":[{"type":"text","text":"Hello"}],"clientMessageId":"temp_1"}},` +
	`{"_tag":"SessionStarted","turnId":"t1","messageId":"m1","startedAt":"2026-03-01T11:59:00.000Z"}`

func chat(turn, event string) string {
	return fmt.Sprintf(`{"_tag":"StreamEvent","turnId":%q,"event":%s}`, turn, event)
}

func TestWhatTheDialectCannotSayIsUnsupported(t *testing.T) {
	d := newDesk(t, &codec.ClientState{})
	a := d.does(protocol.DoHello, "", protocol.HelloData{Version: protocol.Version, Name: "ada"})
	h := result[protocol.HelloResult](*a)
	can := map[protocol.Verb]bool{}
	for _, v := range h.Commands {
		can[v] = true
	}
	if d.does(protocol.DoPing, "", nil).Error != nil {
		t.Error("no answer to ping")
	}
	for _, c := range protocol.Commands {
		if can[c.Verb] || c.Verb == protocol.DoAck {
			continue
		}
		a := d.does(c.Verb, "", nil)
		if a == nil || a.Error == nil || a.Error.Code != protocol.CodeUnsupported || !strings.Contains(a.Error.Message, Name) {
			t.Errorf("%s: %+v", c.Verb, a)
		}
	}
}

// SC-1, SC-10, SC-46, SC-45, SC-26: the request as the real server wants it, and an Ack for each chunk.
func TestSubscribeAsksAndAcknowledges(t *testing.T) {
	d := newDesk(t, &codec.ClientState{})
	d.does(protocol.DoSubscribe, "", nil)
	same(t, d.said, `{"_tag":"Request","id":"0","tag":"chat.subscribe","payload":{"_tag":"chat.subscribe","sessionId":"abc"},"headers":[]}`)
	d.chunk(0, `{"_tag":"InitialState","snapshot":{"status":"streaming","activeTurnId":"t1","queue":[{"id":"q1","content":"later","queuedAt":"2026-03-01T11:59:30.000Z"}],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}},`+
		`"buffer":[{"type":"start","messageId":"a1"},{"type":"text-start","id":"p"},{"type":"text-delta","id":"p","delta":"Hi"}],`+
		`"turnContext":{"turnId":"t1","messageId":"m1","content":"Hello","clientMessageId":"c1","startedAt":"2026-03-01T11:59:00.000Z"},"pendingApprovals":[{"toolCallId":"x","toolName":"Bash"}]}`)
	same(t, d.said, `{"_tag":"Ack","requestId":"0"}`)
	if got := d.types(); got != "answer session.created message.user turn.started text.start text.delta approval.requested caught_up" {
		t.Errorf("got %s", got)
	}
	if s := d.state; s.Turn.Message.Text != "Hello" || s.Turn.Started.Minute() != 59 || s.Queue[0].Text != "later" || s.Approvals[0].Request != "x" {
		t.Errorf("%+v", s)
	}
	d.does(protocol.DoUnsubscribe, "", nil)
	same(t, d.said, `{"_tag":"Interrupt","requestId":"0"}`)
	d.chunk(0, chat("t1", `{"type":"text-delta","id":"p","delta":"late"}`))
	if len(d.lines)+len(d.said) != 0 {
		t.Errorf("%s %s", d.lines, d.said)
	}
}

// SC-6, X-20: a server of the document is asked in its words, also on the next connection.
func TestAServerOfTheDocumentIsAskedInItsWords(t *testing.T) {
	for _, no := range []string{
		`{"_tag":"Defect","defect":"Unknown request tag: chat.subscribe"}`,
		`{"_tag":"Exit","requestId":"0","exit":{"_tag":"Failure","cause":{"_tag":"Die","defect":"Unknown request tag: chat.subscribe"}}}`,
	} {
		memory := &codec.ClientState{}
		d := newDesk(t, memory)
		d.does(protocol.DoSubscribe, "", nil)
		d.does(protocol.DoInterrupt, "", nil)
		same(t, d.said) // until it is known how
		d.says(no)
		same(t, d.said, `{"_tag":"Request","id":"1","tag":"SubscribeSession","payload":{"_tag":"SubscribeSession","sessionId":"abc"},"headers":[]}`,
			`{"_tag":"Request","id":"2","tag":"Interrupt","payload":{"_tag":"Interrupt","sessionId":"abc"},"headers":[]}`)
		d.chunk(1, strings.ReplaceAll(idle, `"lastMessageId":null`, `"lastMessageId":"a1"`))
		same(t, d.client.Paths(), "/api/sessions/abc/messages") // its history is there
		d.work(d.client.PathRead(d.now, "/api/sessions/abc/messages", []byte(`[{"id":"m1","role":"user","parts":[{"type":"text","text":"Hello"}]},{"id":"a1","role":"assistant","parts":[{"type":"text","text":"Hi"}]}]`)))
		if d.types() != "answer caught_up" || d.state.Turns != 1 {
			t.Errorf("subscribed: %s", d.lines)
		}
		same(t, d.said, `{"_tag":"Ack","requestId":"1"}`)
		d = newDesk(t, memory)
		d.does(protocol.DoSubscribe, "", nil)
		if !strings.Contains(d.said[0], "SubscribeSession") {
			t.Errorf("the next connection asks %s", d.said)
		}
	}
}

// SC-11 to SC-14, SC-18 to SC-21, SC-36, SC-38: the end of a turn and the next one can be one chunk.
func TestTurnsAreTold(t *testing.T) {
	d := newDesk(t, &codec.ClientState{})
	d.follows()
	d.chunk(0, turnOne, chat("t1", `{"type":"start","messageId":"a1","claudeSessionId":"x"}`), chat("t1", `{"type":"text-start","id":"p"}`),
		chat("t1", `{"type":"text-delta","id":"p","delta":"Hi"}`), chat("t1", `{"type":"text-end","id":"p"}`),
		`{"_tag":"MessageQueued","message":{"id":"m2","content":"next","queuedAt":"2026-03-01T11:59:30.000Z","clientMessageId":"temp_2"}}`)
	d.chunk(0, chat("t1", `{"type":"finish","finishReason":"stop","metadata":{"claudeSessionId":"x","costUsd":0.5,"inputTokens":10,"outputTokens":2,"cacheReadInputTokens":1,"cacheCreationInputTokens":0,"contextWindow":200000}}`),
		`{"_tag":"SessionStopped","turnId":"t1","reason":"completed"}`, `{"_tag":"MessageDequeued","messageId":"m2"}`,
		`{"_tag":"UserMessage","message":{"id":"m2","content":"next","clientMessageId":"temp_2"}}`,
		`{"_tag":"SessionStarted","turnId":"t2","messageId":"m2","startedAt":"2026-03-01T11:59:40.000Z"}`, chat("t2", `{"type":"start"}`))
	if got := d.types(); got != "turn.ended queue.removed message.user turn.started" {
		t.Errorf("got %s", got)
	}
	if !strings.Contains(d.lines[0], `"usage":{"input":10,"output":2,"cached":1,"cost":0.5,"currency":"USD"}`) || !strings.Contains(d.lines[1], `"reason":"started"`) {
		t.Errorf("%s", d.lines)
	}
	if m := d.state.Turn.Message; m.MessageID != "m2" || m.ClientMessageID != "temp_2" || m.Text != "next" || len(m.Parts) != 0 {
		t.Errorf("%+v", m)
	}
	d.chunk(0, chat("t2", `{"type":"error","errorText":"overloaded"}`), `{"_tag":"SessionStopped","turnId":"t2","reason":"error"}`)
	if l := d.state.Last; l.Reason != protocol.ReasonError || l.Message != "overloaded" {
		t.Errorf("%+v", l)
	}
}

// CARD-4 and the rule that nothing unknown is dropped.
func TestWhatIsUnknownIsKept(t *testing.T) {
	d := newDesk(t, &codec.ClientState{})
	d.follows()
	d.chunk(0, turnOne, chat("t1", `{"type":"file","url":"data:x","mediaType":"a/b"}`), chat("t1", `{"type":"text-delta","id":7}`), chat("t9", `{"type":"text-end","id":"p"}`),
		`{"_tag":"SomethingNew","x":1}`, `7`, `{"_tag":"SessionStopped","turnId":"t9","reason":"completed"}`, chat("t1", `{"type":"data-agentctl","data":{"type":"turn.ended"}}`))
	if got := d.types(); got != "message.user turn.started raw raw raw raw raw raw raw" {
		t.Errorf("got %s", got)
	}
	if !strings.Contains(d.lines[2], `"data":{"source":"sandcastle","method":"file","data":{"type":"file","url":"data:x","mediaType":"a/b"}}`) {
		t.Errorf("%s", d.lines[2])
	}
}

func TestWhatNestsTooDeepIsKeptAsAString(t *testing.T) {
	d := newDesk(t, &codec.ClientState{})
	d.follows()
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	d.chunk(0, turnOne, chat("t1", `{"type":"tool-input-available","toolCallId":"x","toolName":"y","input":`+deep+`}`), chat("t1", `{"type":"text-delta","id":"p","delta":"on"}`))
	if got := d.types(); got != "message.user turn.started raw text.delta" || !strings.Contains(d.lines[2], `"data":"{\"_tag\"`) {
		t.Errorf("got %s", got)
	}
	same(t, d.said, `{"_tag":"Ack","requestId":"0"}`)
}

// SC-2, SC-36.
func TestSend(t *testing.T) {
	d := newDesk(t, &codec.ClientState{})
	d.follows()
	d.does(protocol.DoSend, "key-1", protocol.SendData{Text: "Hello"})
	same(t, d.said, `{"_tag":"Request","id":"1","tag":"chat.send","payload":{"_tag":"chat.send","sessionId":"abc","content":"Hello","parts":[{"type":"text","text":"Hello"}],"clientMessageId":"key-1"},"headers":[]}`)
	d.says(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{"status":"started","messageId":"m1"}}}`)
	if got := string(result[json.RawMessage](*d.answer("n2"))); got != `{"status":"started","message_id":"m1"}` {
		t.Errorf("got %s", got)
	}
	d.chunk(0, strings.ReplaceAll(turnOne, "temp_1", "key-1"))
	again := d.does(protocol.DoSend, "key-1", protocol.SendData{Text: "Hello"})
	if len(d.said) != 0 || !strings.Contains(string(again.Result), `"message_id":"m1","turn":"t1"`) {
		t.Errorf("sent twice: %s %s", d.said, again.Result)
	}
	d.does(protocol.DoSend, "key-2", protocol.SendData{Text: "more"})
	d.says(`{"_tag":"Exit","requestId":"2","exit":{"_tag":"Success","value":{"status":"queued","queuedMessage":{"id":"m2","content":"more","queuedAt":"2026-03-01T12:00:00.000Z"}}}}`)
	if got := string(d.answer("n4").Result); got != `{"status":"queued","message_id":"m2","index":0}` {
		t.Errorf("got %s", got)
	}
	if a := d.does(protocol.DoSend, "", protocol.SendData{Text: "x", Front: true}); a.Error.Code != protocol.CodeUnsupported {
		t.Errorf("%+v", a)
	}
}

// SC-36, SC-39: a message whose answer a broken connection kept is looked up on the next one, and sent again only if it is not there.
func TestAMessageIsSentOnceOverConnections(t *testing.T) {
	for arrived, want := range map[string]string{"key-1": "", "another": `"tag":"chat.send"`} {
		memory := &codec.ClientState{Value: &manners{tags: chatTags, sure: true}}
		d := newDesk(t, memory)
		d.follows()
		d.does(protocol.DoSend, "key-1", protocol.SendData{Text: "Hello"})
		if len(d.said) != 1 {
			t.Fatalf("%s", d.said)
		}
		d = newDesk(t, memory)
		d.does(protocol.DoSend, "key-1", protocol.SendData{Text: "Hello"})
		d.chunk(0, strings.ReplaceAll(idle, `"lastMessageId":null`, `"lastMessageId":"a1"`))
		d.says(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":[{"id":"m1","role":"user","parts":[{"type":"text","text":"Hello"}],"clientMessageId":"` + arrived + `"},` +
			`{"id":"a1","role":"assistant","parts":[]}]}}`)
		said := strings.Join(d.said, "")
		a := d.answer("n1")
		if want == "" && (strings.Contains(said, "chat.send") || a == nil || !strings.Contains(string(a.Result), `"message_id":"m1","turn":"a1"`)) ||
			want != "" && (!strings.Contains(said, want) || a != nil) {
			t.Errorf("arrived %s: said %s, answered %+v", arrived, said, a)
		}
	}
}

// SC-47: causes come nested.
func TestErrorsAreReadInEveryForm(t *testing.T) {
	for cause, want := range map[string]protocol.Code{
		`{"_tag":"Fail","error":"SESSION_NOT_FOUND"}`:                                                protocol.CodeNoSession,
		`{"_tag":"Fail","error":{"sessionId":"abc","_tag":"ChatSessionNotFoundRpcError"}}`:           protocol.CodeNoSession,
		`{"_tag":"Fail","error":{"message":"no","code":"FORBIDDEN","_tag":"ChatOperationRpcError"}}`: protocol.CodeForbidden,
		`{"_tag":"Fail","error":{"message":"no","_tag":"ChatOperationRpcError"}}`:                    protocol.CodeInternal,
		`{"_tag":"Die","defect":"boom"}`:                                                             protocol.CodeInternal,
		`{"_tag":"Interrupt","fiberId":{"_tag":"None"}}`:                                             protocol.CodeInternal,
		`{"_tag":"Empty"}`: protocol.CodeInternal,
		`{"_tag":"Sequential","left":{"_tag":"Empty"},"right":{"_tag":"Parallel","left":{"_tag":"Die","defect":1},"right":{"_tag":"Fail","error":"SESSION_NOT_FOUND"}}}`: protocol.CodeNoSession,
	} {
		d := newDesk(t, &codec.ClientState{})
		d.does(protocol.DoSubscribe, "", nil)
		d.says(`{"_tag":"Exit","requestId":"0","exit":{"_tag":"Failure","cause":` + cause + `}}`)
		if a := d.answer("n1"); a == nil || a.Error == nil || a.Error.Code != want {
			t.Errorf("%s: %+v", cause, a)
		}
	}
}

// X-21, SC-34: the answer to an interrupt comes when the end is visible, in either order.
func TestInterruptIsAnsweredWhenTheEndIsVisible(t *testing.T) {
	stop, yes := `{"_tag":"SessionStopped","turnId":"t1","reason":"interrupted"}`, `{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{"interrupted":true}}}`
	for _, stopFirst := range []bool{true, false} {
		d := newDesk(t, &codec.ClientState{})
		d.follows()
		d.chunk(0, turnOne)
		d.does(protocol.DoInterrupt, "", protocol.InterruptData{Turn: "t1"})
		if stopFirst {
			d.chunk(0, stop)
			d.says(yes)
		} else {
			d.says(yes)
			if len(d.lines) != 0 {
				t.Errorf("answered before the end: %s", d.lines)
			}
			d.chunk(0, stop)
		}
		if a := d.answer("n2"); a == nil || string(a.Result) != `{"interrupted":true,"turn":"t1"}` {
			t.Errorf("%s", d.lines)
		}
		if a := d.does(protocol.DoInterrupt, "", protocol.InterruptData{Turn: "t1"}); string(a.Result) != `{"interrupted":false,"turn":"t1"}` {
			t.Errorf("%s", a.Result)
		}
	}
}

// SC-49.
func TestApprovalsOfTheRealServer(t *testing.T) {
	d := newDesk(t, &codec.ClientState{})
	d.follows()
	d.chunk(0, turnOne, chat("t1", `{"type":"tool-input-start","toolCallId":"x","toolName":"Bash"}`),
		chat("t1", `{"type":"tool-input-available","toolCallId":"x","toolName":"Bash","input":{"command":"rm -rf build"}}`),
		chat("t1", `{"type":"tool-approval-request","toolCallId":"x","toolName":"Bash"}`),
		chat("t1", `{"type":"tool-input-available","toolCallId":"y","toolName":"AskUserQuestion","input":{"questions":[{"question":"Which branch?","header":"Branch","options":[{"label":"main","description":"the main one"}],"multiSelect":false}]}}`),
		chat("t1", `{"type":"tool-approval-request","toolCallId":"y","toolName":"AskUserQuestion"}`))
	if a := d.state.Approvals; len(a) != 2 || a[0].Kind != protocol.ApproveCommand || a[0].Command != "rm -rf build" || a[1].Kind != protocol.ApproveQuestion || a[1].Questions[0].Choices[0].ID != "main" {
		t.Fatalf("%+v", a)
	}
	if a := d.does(protocol.DoApprove, "", protocol.ApproveData{Request: "x", Decision: protocol.AllowAlways}); a.Error.Code != protocol.CodeUnsupported {
		t.Errorf("%+v", a.Error)
	}
	d.does(protocol.DoApprove, "", protocol.ApproveData{Request: "x", Decision: protocol.AllowOnce})
	same(t, d.said, `{"_tag":"Request","id":"1","tag":"chat.respondToToolApproval","payload":{"_tag":"chat.respondToToolApproval","sessionId":"abc","type":"tool-approval-response","toolCallId":"x","toolName":"Bash","approved":true},"headers":[]}`)
	d.says(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{"acknowledged":true}}}`)
	if got := d.types(); got != "approval.resolved answer" {
		t.Errorf("got %s", got)
	}
	if a := d.does(protocol.DoApprove, "", protocol.ApproveData{Request: "x", Decision: protocol.Deny}); a.Error.Code != protocol.CodeConflict || a.Error.Winner.By.Name != "ada" {
		t.Errorf("%+v", a.Error)
	}
	d.does(protocol.DoApprove, "", protocol.ApproveData{Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Answers: map[string][]string{"Which branch?": {"main"}}}})
	if !strings.Contains(d.said[0], `"payload":{"type":"AskUserQuestionPayload","answers":{"Which branch?":"main"}}`) {
		t.Errorf("%s", d.said)
	}
	d.chunk(0, chat("t1", `{"type":"tool-output-available","toolCallId":"y","output":{"answers":{}}}`))
	if got := d.types(); got != "approval.resolved tool.ended" {
		t.Errorf("somebody else decided: %s", got)
	}
	d.says(`{"_tag":"Exit","requestId":"2","exit":{"_tag":"Failure","cause":{"_tag":"Fail","error":{"toolCallId":"y","_tag":"ToolApprovalNotFoundRpcError"}}}}`)
	if a := d.answer("n5"); a.Error.Code != protocol.CodeConflict {
		t.Errorf("%+v", a.Error)
	}
	d.chunk(0, chat("t1", `{"type":"tool-approval-request","toolCallId":"z","toolName":"ExitPlanMode"}`), `{"_tag":"SessionStopped","turnId":"t1","reason":"interrupted"}`)
	if len(d.state.Approvals) != 0 {
		t.Error("an approval outlives its turn")
	}
}

// SC-42.
func TestAServerThatAnswersNoPingIsLeft(t *testing.T) {
	d := newDesk(t, &codec.ClientState{})
	if !d.wake.Equal(noon.Add(10 * time.Second)) {
		t.Fatalf("wakes at %v", d.wake)
	}
	tick := func() { d.now = d.wake; d.work(d.client.Wake(d.now)) }
	tick()
	same(t, d.said, `{"_tag":"Ping"}`)
	d.says(`{"_tag":"Pong"}`)
	tick()
	same(t, d.said, `{"_tag":"Ping"}`)
	tick()
	if d.closed == nil || d.closed.Code == protocol.ClosePolicy {
		t.Errorf("%+v", d.closed)
	}
}

// A server of another protocol is not waited for.
func TestAServerOfAnotherProtocolIsKnown(t *testing.T) {
	for _, greeting := range []string{`{"event":"system.connected","seq":1}`, `{"id":"1","type":"error","payload":{}}`, "hello"} {
		for _, early := range []bool{true, false} {
			d := newDesk(t, &codec.ClientState{})
			if early {
				d.says(greeting)
			}
			a := d.does(protocol.DoSnapshot, "", nil)
			if !early {
				d.says(greeting)
				a = d.answer("n1")
			}
			if a == nil || a.Error == nil || a.Error.Code != protocol.CodeUnsupported || !strings.Contains(a.Error.Message, Name) {
				t.Errorf("%s: %+v", greeting, a)
			}
		}
	}
	d := newDesk(t, &codec.ClientState{})
	d.says(`{"_tag":"Pong"}`)
	d.does(protocol.DoSnapshot, "", nil)
	if d.says(`{"event":"x"}`); d.answer("n1") != nil {
		t.Error("one odd message ends what was asked")
	}
}

// SC-28, SC-29: finished turns come with the state, without a gap before it, and the stream waits meanwhile.
func TestFinishedTurnsAreAskedFor(t *testing.T) {
	d := newDesk(t, &codec.ClientState{})
	d.does(protocol.DoSubscribe, "", nil)
	d.chunk(0, strings.ReplaceAll(idle, `"lastMessageId":null,"lastMessageAt":null`, `"lastMessageId":"a1","lastMessageAt":"2026-03-01T11:00:00.000Z"`),
		`{"_tag":"UserMessage","message":{"id":"m2","content":"next","clientMessageId":"c"}}`, `{"_tag":"SessionStarted","turnId":"t2","messageId":"m2"}`)
	same(t, d.said, `{"_tag":"Request","id":"1","tag":"chat.getHistory","payload":{"_tag":"chat.getHistory","sessionId":"abc"},"headers":[]}`)
	d.says(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":[` +
		`{"id":"m1","role":"user","parts":[{"type":"text","text":"Hello"}],"createdAt":"2026-03-01T10:59:00.000Z"},` +
		`{"id":"a1","role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"Hi","state":"done"},{"type":"tool-Bash","toolCallId":"x","state":"output-available","input":{"command":"ls"},"output":"ok"}],"createdAt":"2026-03-01T11:00:00.000Z"},` +
		`{"id":"m2","role":"user","parts":[{"type":"text","text":"next"}]}]}}`)
	same(t, d.said, `{"_tag":"Ack","requestId":"0"}`)
	if got := d.types(); got != "answer caught_up message.user turn.started" {
		t.Errorf("got %s", got)
	}
	if d.state.Turns != 1 || d.state.History.LastMessageID != "a1" || d.state.Turn.Turn != "t2" {
		t.Errorf("%+v", d.state)
	}
	h := result[protocol.HistoryResult](*d.does(protocol.DoHistory, "", protocol.HistoryData{}))
	var tr protocol.Transcript
	for _, line := range h.Events {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	if len(tr.Turns) != 1 || tr.Turns[0].Message.Text != "Hello" || tr.Turns[0].Items[1].Text.String() != "Hi" || tr.Turns[0].Items[2].Text.String() != "ok" {
		t.Errorf("%s", protocol.MustEncode(tr))
	}
}

// a server that knows no history breaks everything off when asked for it; that happens once.
func TestAServerWithoutHistoryIsAskedOnce(t *testing.T) {
	memory := &codec.ClientState{}
	past := strings.ReplaceAll(idle, `"lastMessageId":null`, `"lastMessageId":"a1"`)
	d := newDesk(t, memory)
	d.does(protocol.DoSubscribe, "", nil)
	d.chunk(0, past)
	d.says(`{"_tag":"Defect","defect":"Unknown request tag: chat.getHistory"}`)
	if d.types() != "answer session.created caught_up" || len(d.said) != 2 || !strings.Contains(d.said[1], `"id":"2","tag":"chat.subscribe"`) {
		t.Errorf("%s %s", d.lines, d.said)
	}
	same(t, d.said[:1], `{"_tag":"Interrupt","requestId":"0"}`) // what is streamed goes on there
	d = newDesk(t, memory)
	d.does(protocol.DoSubscribe, "", nil)
	d.chunk(0, past)
	same(t, d.said, `{"_tag":"Ack","requestId":"0"}`)
}

// SC-26, SC-25, SC-29: a stream that breaks off is opened again, and what is known is not told twice. Where turns ended meanwhile,
// the connection begins anew to learn of them, unless the server does not tell.
func TestAStreamThatBreaksOffGoesOn(t *testing.T) {
	for _, tells := range []bool{true, false} {
		breaksOff(t, tells)
	}
}

func breaksOff(t *testing.T, tells bool) {
	t.Helper()
	d := newDesk(t, &codec.ClientState{Value: &manners{tags: chatTags, sure: true, mute: !tells}})
	d.follows()
	one, two := `{"type":"text-delta","id":"p","delta":"one "}`, `{"type":"text-delta","id":"p","delta":"two"}`
	d.chunk(0, turnOne, chat("t1", one))
	d.says(`{"_tag":"Defect","defect":"boom"}`)
	if wait := d.wake.Sub(d.now); wait != firstRetry {
		t.Errorf("tried again after %s", wait)
	}
	d.now = d.wake
	d.work(d.client.Wake(d.now))
	if len(d.said) != 1 || !strings.Contains(d.said[0], `"id":"1","tag":"chat.subscribe"`) {
		t.Fatalf("%s", d.said)
	}
	active := strings.ReplaceAll(strings.ReplaceAll(idle, `"activeTurnId":null`, `"activeTurnId":"t1"`), `"queue":[]`, `"queue":[{"id":"q","content":"x","queuedAt":"2026-03-01T11:59:30.000Z"}]`)
	d.chunk(1, strings.ReplaceAll(active, `"buffer":[]`, `"buffer":[`+one+`,`+two+`]`))
	if got := d.types(); got != "queue.added text.delta" || !strings.Contains(d.lines[1], "two") {
		t.Errorf("%s", d.lines)
	}
	d.says(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success"}}`)
	d.now = d.wake
	d.says(`{"_tag":"Pong"}`)
	d.work(d.client.Wake(d.now))
	d.chunk(2, idle)
	want := "queue.removed turn.ended"
	if tells {
		want = ""
	}
	if got := d.types(); got != want || (d.closed != nil) != tells {
		t.Errorf("a turn whose end was missed: %s, %+v", got, d.closed)
	}
}

// SC-28: history comes as a list or within an object, and what of it cannot be read hides nothing else; a page of a web site is none.
func TestHistoryIsReadAsFarAsItCanBe(t *testing.T) {
	for raw, want := range map[string]int{
		`[]`: 0, `[{"id":"a","role":"user","parts":[]},7,{"id":8},{"id":"b","role":"assistant","parts":[7,{"type":"text","text":9}]}]`: 2,
		`{"messages":[{"id":"a","role":"user","parts":[]}]}`: 1, `<html>`: -1, `null`: -1, `{}`: -1, ``: -1,
	} {
		messages, ok := chatMessages(json.RawMessage(raw))
		if ok != (want >= 0) || len(messages) != max(0, want) {
			t.Errorf("%s: %d, %v", raw, len(messages), ok)
		}
	}
}

// SC-29: also turns that began and ended while the stream was broken are missed.
func TestTurnsThatAStreamMissedAreLearned(t *testing.T) {
	for last, missed := range map[string]bool{`null`: true, `"a1"`: false, `"a2"`: true} {
		d := newDesk(t, &codec.ClientState{Value: &manners{tags: chatTags, sure: true}})
		d.follows()
		d.chunk(0, turnOne, chat("t1", `{"type":"start","messageId":"a1"}`), `{"_tag":"SessionStopped","turnId":"t1","reason":"completed"}`)
		d.says(`{"_tag":"Defect","defect":"boom"}`)
		d.now = d.wake
		d.work(d.client.Wake(d.now))
		d.chunk(1, strings.ReplaceAll(idle, `"lastMessageId":null`, `"lastMessageId":`+last))
		if (d.closed != nil) != missed {
			t.Errorf("last %s: %+v, %s", last, d.closed, d.lines)
		}
	}
}

// SC-26: on a new connection a position of the old one is answered with a reset and a fresh state.
func TestAPositionOfAnotherConnectionIsReset(t *testing.T) {
	d := newDesk(t, &codec.ClientState{})
	d.does(protocol.DoSubscribe, "", protocol.SubscribeData{Position: &protocol.Position{Epoch: "old1", Seq: 7}})
	d.chunk(0, idle)
	if r := result[protocol.SubscribeResult](*d.answer("n1")); r.Mode != protocol.ModeReset || r.Reason != protocol.ResetFresh || r.Snapshot == nil {
		t.Errorf("%+v", r)
	}
}

// SC-13.
func TestADeletedSessionIsClosed(t *testing.T) {
	d := newDesk(t, &codec.ClientState{})
	d.follows()
	d.chunk(0, turnOne, `{"_tag":"SessionDeleted","sessionId":"abc"}`)
	if got := d.types(); got != "message.user turn.started turn.ended session.closed" {
		t.Errorf("got %s", got)
	}
}

// What is said of the session rather than of a turn.
func TestModeAndTitle(t *testing.T) {
	d := newDesk(t, &codec.ClientState{})
	d.follows()
	d.chunk(0, chat("", `{"type":"session-renamed","sessionId":"abc","title":"New"}`), turnOne, chat("t1", `{"type":"mode-change","mode":"plan"}`), chat("t1", `{"type":"mode-change","mode":"plan"}`))
	if got := d.types(); got != "session.updated message.user turn.started agent.options" || d.state.Title != "New" {
		t.Errorf("got %s", got)
	}
}
