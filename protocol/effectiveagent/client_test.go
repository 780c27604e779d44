package effectiveagent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
)

// says wraps an activity of the runtime r.
func says(activity string) string {
	return `{"type":"activity","agentRuntimeId":"r","activity":` + activity + `}`
}

// follow is a guest that follows r, with nothing told so far.
func follow(t testing.TB) *guest {
	g := newGuest(t, nil)
	g.does(protocol.DoSubscribe, "r", nil)
	g.story()
	g.flush()
	return g
}

func TestHelloTellsWhatTheDialectCanDo(t *testing.T) {
	g := newGuest(t, nil)
	var r protocol.HelloResult
	g.result(g.does(protocol.DoHello, "", protocol.HelloData{Version: protocol.Version, Name: "ada", Acks: true}), &r)
	if r.By.Name != "ada" || r.Window != 0 || !slices.Contains(r.Commands, protocol.DoSend) || slices.Contains(r.Commands, protocol.DoList) {
		t.Errorf("hello: %+v", r)
	}
	id := g.does(protocol.DoList, "", nil)
	if g.code(id) != protocol.CodeUnsupported || !strings.Contains(g.answers[id].Error.Message, Name) {
		t.Errorf("list: %v", g.answers[id].Error)
	}
	if id := g.does(protocol.DoSnapshot, "r", nil); g.code(id) != protocol.CodeUnsupported {
		t.Errorf("the snapshot of what is not followed: %s", g.code(id))
	}
}

// EA-7, EA-8
func TestSubscribeAnswersAtOnce(t *testing.T) {
	g := newGuest(t, nil)
	var r protocol.SubscribeResult
	g.result(g.does(protocol.DoSubscribe, "r", nil), &r)
	if r.Mode != protocol.ModeSnapshot || r.Session != "r" || r.Position.Epoch == "" || g.story() != "caught_up" {
		t.Errorf("subscribed: %+v", r)
	}
	g.does(protocol.DoUnsubscribe, "r", nil)
	g.hears(says(`{"type":"output","payload":"late"}`))
	if got := g.story(); got != "" {
		t.Errorf("after unsubscribe: %s", got)
	}
	if got, want := strings.Join(g.flush(), "\n"), `{"type":"subscribe","agentRuntimeId":"r"}`+"\n"+`{"type":"unsubscribe","agentRuntimeId":"r"}`; got != want {
		t.Errorf("said %s", got)
	}
	if id := g.does(protocol.DoUnsubscribe, "r", nil); g.code(id) != protocol.CodeNotSubscribed {
		t.Errorf("unsubscribed twice: %s", g.code(id))
	}
}

// EA-6: the frame has the document's fields in its order, byte for byte.
func TestASendIsAnActivity(t *testing.T) {
	g := follow(t)
	g.does(protocol.DoSend, "r", protocol.SendData{Text: "why?", ClientMessageID: "ui-1"})
	want := `{"type":"send","targetAgentRuntimeId":"r","payload":{"sequence":1,"timestamp":"2026-03-01T09:00:00.000Z","type":"input",` +
		`"payload":"why?","agentRuntimeId":"r","id":"ui-1","metadata":{"agentctl":{"command":"send","key":"key-2"}}}}`
	if said := g.flush(); len(said) != 1 || said[0] != want {
		t.Errorf("said %s", said)
	}
	for _, d := range []protocol.SendData{{}, {Text: "x", Front: true}} {
		if id := g.does(protocol.DoSend, "r", d); g.answers[id].Error == nil {
			t.Errorf("%+v was sent", d)
		}
	}
}

// A send is answered when no error came within 500 ms; with a server that tells of nothing, its turn starts here.
func TestASendIsAnsweredWithoutAnError(t *testing.T) {
	g := follow(t)
	id := g.does(protocol.DoSend, "r", protocol.SendData{Text: "why?"})
	g.waits(499 * time.Millisecond)
	if _, ok := g.answers[id]; ok {
		t.Fatal("answered before the time")
	}
	g.waits(time.Millisecond)
	var r protocol.SendResult
	g.result(id, &r)
	if r.Status != protocol.SendStarted || r.Turn == "" || r.Seq != 1 || g.story() != "message.user turn.started" {
		t.Errorf("answered %+v", r)
	}
	if m := g.state.Turn.Message; m.Text != "why?" || m.By.Name != "ada" || g.state.Status() != protocol.Running {
		t.Errorf("turn %+v", m)
	}
}

func TestASendToWhatIsNotFollowedIsAnswered(t *testing.T) {
	g := newGuest(t, nil)
	id := g.does(protocol.DoSend, "r", protocol.SendData{Text: "why?"})
	g.waits(grace)
	var r protocol.SendResult
	if g.result(id, &r); r.Status != protocol.SendStarted || g.story() != "" {
		t.Errorf("answered %+v", r)
	}
}

// EA-15: an error is of the command whose agent runtime it names.
func TestAnErrorFailsTheCommandThatItNames(t *testing.T) {
	g := newGuest(t, nil)
	a := g.does(protocol.DoSend, "r1", protocol.SendData{Text: "x"})
	b := g.does(protocol.DoSend, "r12", protocol.SendData{Text: "x"})
	c := g.does(protocol.DoSend, "r1", protocol.SendData{Text: "y"})
	g.hears(`{"type":"error","code":"AGENT_RUNTIME_SEND_FAILED","message":"AgentRuntimeService failed to process input for r12","details":"AgentRuntimeNotFoundError"}`)
	if g.code(b) != protocol.CodeAgentFailed {
		t.Errorf("r12: %v", g.answers[b].Error)
	}
	g.hears(`{"type":"error","code":"AGENT_RUNTIME_SEND_FAILED","message":"AgentRuntimeService failed to process input for r1: no session","details":"no_session"}`)
	if g.code(a) != protocol.CodeNoSession {
		t.Errorf("r1: %v", g.answers[a].Error)
	}
	g.waits(grace)
	if g.answers[c].Error != nil {
		t.Errorf("the second send to r1: %v", g.answers[c].Error)
	}
}

func TestAnErrorNamesAWholeID(t *testing.T) {
	for _, c := range []struct {
		text, id string
		want     bool
	}{
		{"failed for r", "r", true}, {"r: no", "r", true}, {`"r"`, "r", true}, {"failed for r1", "r", false}, {"for x-r", "r", false},
		{"for r1 and r", "r", true}, {"für", "r", false}, {"", "r", false}, {"a a b", "a b", true}, {"\xffr\xff", "r", true},
	} {
		if got := names(c.text, c.id); got != c.want {
			t.Errorf("%q names %q: %v", c.text, c.id, got)
		}
	}
}

// A refusal that comes late, of what is not followed any more, ends nothing else.
func TestALateRefusalEndsNothingElse(t *testing.T) {
	g := follow(t)
	g.hears(says(`{"type":"status","payload":"x"}`))
	g.story()
	g.hears(`{"type":"error","code":"AGENT_RUNTIME_SUBSCRIBE_FAILED","message":"Failed to subscribe to agent runtime other"}`)
	if got := g.story(); got != "error" || g.codec.sessions["r"].refused != nil {
		t.Errorf("told %s", got)
	}
}

// EA-12: every code has a native one.
func TestEveryCodeIsUnderstood(t *testing.T) {
	for c, want := range map[code]protocol.Code{
		unknownError: protocol.CodeInternal, parseError: protocol.CodeInvalidJSON, validationError: protocol.CodeInvalidMessage,
		sendFailed: protocol.CodeAgentFailed, serializationError: protocol.CodeInvalidJSON,
		unauthorized: protocol.CodeUnauthorized, unknownMessageType: protocol.CodeUnsupported, internalServerError: protocol.CodeInternal,
		"OF_TOMORROW": protocol.CodeInternal,
	} {
		g := newGuest(t, nil)
		id := g.does(protocol.DoSend, "r", protocol.SendData{Text: "x"})
		g.hears(`{"type":"error","code":"` + string(c) + `","message":"no"}`)
		if g.code(id) != want || g.answers[id].Error.Message != "no" {
			t.Errorf("%s became %v", c, g.answers[id].Error)
		}
		g.does(protocol.DoSubscribe, "r", nil)
		g.story()
		g.hears(`{"type":"error","code":"` + string(c) + `","message":"no"}`)
		if got := g.story(); got != "error" {
			t.Errorf("%s without a command became %s", c, got)
		}
	}
}

// EA-15, EA-18: who is refused is told when it asks again; the time after it is tried again.
func TestARefusedSubscriptionEnds(t *testing.T) {
	g := follow(t)
	g.hears(`{"type":"error","code":"AGENT_RUNTIME_SUBSCRIBE_FAILED","message":"Failed to subscribe to agent runtime r"}`)
	var gone protocol.Client
	if len(g.events) != 1 || g.events[0].Type != protocol.ClientDetached || g.events[0].Decode(&gone) != nil || gone.Client != g.codec.desk.Epoch {
		t.Fatalf("told %+v", g.events)
	}
	g.hears(says(`{"type":"output","payload":"x"}`))
	if id := g.does(protocol.DoSubscribe, "r", nil); g.code(id) != protocol.CodeNoSession {
		t.Errorf("asked again: %v", g.answers[id])
	}
	if g.flush() != nil {
		t.Error("the server is asked before the client knows")
	}
	if g.does(protocol.DoSubscribe, "r", nil); len(g.flush()) != 1 {
		t.Error("the server is not asked again")
	}
}

// EA-10, EA-24: activities of the document and of the real system, with whatever they lack.
func TestActivitiesBecomeATurn(t *testing.T) {
	for _, c := range []struct{ hears, story, text string }{
		{`{"sequence":1,"timestamp":"2024-07-29T10:00:00Z","type":"output","payload":"hi","agentRuntimeId":"r"}`, "message.user turn.started text.start text.delta text.end", "hi"},
		{`{"id":"a","agentRuntimeId":"r","timestamp":1722247200000,"type":"RESPONSE","payload":{"text":"hi"},"sequence":4,"metadata":{}}`, "message.user turn.started text.start text.delta text.end", "hi"},
		{`{"type":"EVENT","payload":{"content":"hi","n":1},"metadata":{"priority":1}}`, "message.user turn.started text.start text.delta text.end raw", "hi"},
		{`{"type":"output","payload":{"n":1}}`, "message.user turn.started raw", ""},
		{`{"type":"output"}`, "message.user turn.started raw", ""},
		{`{"type":"input","payload":"hi"}`, "message.user turn.started", ""},
		{`{"type":"QUERY","payload":"hi","metadata":{"sourceAgentRuntimeId":"other"}}`, "message.user turn.started", ""},
		{`{"type":"error","payload":{"message":"no"}}`, "error raw", ""},
		{`{"type":"ERROR","payload":"no"}`, "error", ""},
		{`{"type":"status","payload":"thinking"}`, "notice", ""},
		{`{"type":"STATE_CHANGE","payload":{"state":"idle"}}`, "notice raw", ""},
		{`{"type":"SYSTEM","payload":{"n":1}}`, "raw", ""},
		{`{"type":"of.tomorrow","payload":"x"}`, "raw", ""},
		{`{"type":7,"payload":"x"}`, "raw", ""},
		{`"what"`, "raw", ""},
		{`null`, "raw", ""},
	} {
		g := follow(t)
		g.hears(says(c.hears))
		if got := g.story(); got != c.story {
			t.Errorf("%s became %s, want %s", c.hears, got, c.story)
		}
		if c.text != "" && (g.state.Turn == nil || string(g.transcript.Turns[0].Items[0].Text) != c.text) {
			t.Errorf("%s: transcript %s", c.hears, protocol.MustEncode(g.transcript))
		}
	}
}

// EA-24: a server is spoken to in the form that it has.
func TestASendHasTheServersForm(t *testing.T) {
	g := follow(t)
	for _, c := range []struct{ hears, want string }{
		{says(`{"type":"EVENT","payload":"x"}`), `"timestamp":1772355600000,"type":"COMMAND"`},
		{says(`{"type":"of.tomorrow","payload":"x"}`), `"timestamp":1772355600000,"type":"COMMAND"`},
		{`{"type":"send","targetAgentRuntimeId":"r","payload":{"type":"output","payload":"x"}}`, `"timestamp":"2026-03-01T09:00:00.000Z","type":"input"`},
	} {
		g.hears(c.hears)
		g.does(protocol.DoSend, "r", protocol.SendData{Text: "hi"})
		if said := g.flush(); len(said) != 1 || !strings.Contains(said[0], c.want) {
			t.Errorf("after %s: %s", c.hears, said)
		}
	}
	system := NewClient(protocol.Call{ID: ids(), Memory: &protocol.Memory{}, Options: map[string]string{"activities": "system"}})
	out := system.Native(start, []byte(`{"id":"1","command":"send","session":"r","data":{"text":"hi"}}`))
	if len(out.Foreign) != 1 || !strings.Contains(string(out.Foreign[0].Data), `"COMMAND"`) {
		t.Errorf("said %v", out.Foreign)
	}
}

// EA-24: times of either kind are the events' times.
func TestTimesAreKept(t *testing.T) {
	want := time.Date(2024, 7, 29, 10, 0, 0, 0, time.UTC)
	for _, at := range []string{`"2024-07-29T10:00:00Z"`, `"2024-07-29T12:00:00.000+02:00"`, `1722247200000`, `"2024-07-29T10:00:00"`} {
		g := follow(t)
		g.hears(says(`{"type":"status","payload":"x","timestamp":` + at + `}`))
		if got := g.events[0].Time; !got.Equal(want) {
			t.Errorf("%s became %s", at, got)
		}
	}
	for _, at := range []string{`null`, `"soon"`, `-1`, `1e300`, `{}`} {
		g := follow(t)
		g.hears(says(`{"type":"status","payload":"x","timestamp":` + at + `}`))
		if got := g.events[0].Time; !got.Equal(start) {
			t.Errorf("%s became %s", at, got)
		}
	}
}

// A turn that nobody ends is over when its agent has been quiet, says so, or is asked something else.
func TestATurnThatNobodyEndsIsOver(t *testing.T) {
	answered := func() *guest {
		g := follow(t)
		g.does(protocol.DoSend, "r", protocol.SendData{Text: "why?"})
		g.hears(says(`{"type":"output","payload":"because"}`))
		if got := g.story(); got != "message.user turn.started text.start text.delta text.end" {
			t.Fatalf("answered: %s", got)
		}
		return g
	}
	g := answered()
	g.waits(defaultQuiet - time.Millisecond)
	if g.state.Turn == nil {
		t.Error("over too early")
	}
	if g.waits(time.Millisecond); g.state.Turn != nil || g.state.Last.Reason != protocol.ReasonCompleted {
		t.Errorf("after a quiet time: %+v", g.state.Last)
	}
	for hears, want := range map[string]protocol.Reason{
		`{"type":"status","payload":"idle"}`:                          protocol.ReasonCompleted,
		`{"type":"STATE_CHANGE","payload":{"status":"Completed"}}`:    protocol.ReasonCompleted,
		`{"type":"STATE_CHANGE","payload":{"state":"failed"}}`:        protocol.ReasonError,
		`{"type":"status","payload":{"status":"interrupted","n":[]}}`: protocol.ReasonInterrupted,
		`{"type":"input","payload":"and?"}`:                           protocol.ReasonCompleted,
	} {
		g := answered()
		g.hears(says(hears))
		if g.state.Last == nil || g.state.Last.Reason != want {
			t.Errorf("%s: %+v", hears, g.state.Last)
		}
	}
	g = answered()
	g.hears(says(`{"type":"error","payload":"broken"}`))
	if g.waits(defaultQuiet); g.state.Last.Reason != protocol.ReasonError {
		t.Errorf("after an error: %+v", g.state.Last)
	}
	g = follow(t)
	g.does(protocol.DoSend, "r", protocol.SendData{Text: "why?"})
	if g.waits(time.Hour); g.state.Turn == nil {
		t.Error("a turn without an answer is over")
	}
}

// What is too long for one event is several, or told of.
func TestLongWordsAreSplit(t *testing.T) {
	g := follow(t)
	long := strings.Repeat("é\x01", 200<<10)
	g.hears(says(string(protocol.MustEncode(map[string]any{"type": "output", "payload": long}))))
	if got := string(g.transcript.Turns[0].Items[0].Text); got != long {
		t.Errorf("%d of %d bytes came", len(got), len(long))
	}
	g.hears(says(string(protocol.MustEncode(map[string]any{"type": "input", "payload": long}))))
	if m := g.state.Turn.Message.Text; !strings.HasPrefix(long, m) || len(m) < 30<<10 {
		t.Errorf("a message of %d bytes", len(m))
	}
	for _, e := range g.events {
		if n := len(e.AppendJSON(nil)); n > protocol.MaxEvent {
			t.Errorf("%s has %d bytes", e.Type, n)
		}
	}
}

// EA-25: what another client sends and the server relays is a message; our own, echoed, is not another one.
func TestARelayedSendIsAMessage(t *testing.T) {
	g := follow(t)
	g.hears(`{"type":"send","targetAgentRuntimeId":"r","payload":{"id":"x1","type":"COMMAND","payload":{"text":"hello"},"metadata":{"sourceAgentRuntimeId":"grace"}}}`)
	if m := g.state.Turn.Message; m.Text != "hello" || m.MessageID != "x1" || m.By.Name != "grace" {
		t.Errorf("relayed: %+v", m)
	}
	g.story()
	g.hears(`{"type":"send","targetAgentRuntimeId":"r","payload":"bare"}`, `{"type":"send","targetAgentRuntimeId":"else","payload":"not ours"}`)
	if m := g.state.Turn.Message; m.Text != "bare" || g.story() != "turn.ended message.user turn.started" {
		t.Errorf("relayed: %+v", m)
	}
	g.does(protocol.DoSend, "r", protocol.SendData{Text: "mine", ClientMessageID: "ui-1"})
	g.waits(grace)
	g.story()
	g.hears(says(`{"id":"ui-1","type":"input","payload":"mine"}`))
	if got := g.story(); got != "" {
		t.Errorf("our own words came back as %s", got)
	}
}

// Nothing unknown is dropped, and nothing hostile ends anything.
func TestWhatIsNotUnderstoodIsKept(t *testing.T) {
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	for _, f := range []string{
		`{`, "\xff", `7`, `null`, `[]`, `{}`, `{"type":"greeting","agentRuntimeId":"r"}`, `{"type":"greeting"}`, `{"type":"activity"}`,
		says(`[]`), deep, says(`{"type":"output","payload":` + deep + `}`), `"` + strings.Repeat("x", 2<<20) + `"`,
		says(`{"type":"x","metadata":{"agentctl":{"event":"of.tomorrow"}}}`), says(`{"metadata":{"agentctl":{"event":"text.delta","turn":"t"}},"payload":7}`),
		says(`{"metadata":{"agentctl":{"event":"caught_up"}},"payload":{}}`), says(`{"metadata":{"agentctl":{"event":"message.user"}},"payload":{}}`),
	} {
		g := follow(t)
		g.hears(f)
		if got := g.story(); got != "raw" {
			t.Errorf("%.60q became %q", f, got)
		}
		if id := g.does(protocol.DoPing, "", nil); g.answers[id].Error != nil {
			t.Errorf("after %.60q: %v", f, g.answers[id].Error)
		}
	}
	g := follow(t)
	g.hears(`{"type":"error"}`)
	if got := g.story(); got != "error" {
		t.Errorf("an empty error became %s", got)
	}
	g.hears(`{"agentRuntimeId":"r","type":"EVENT","payload":"bare"}`)
	if got := g.story(); !strings.HasPrefix(got, "message.user") {
		t.Errorf("an activity without wrapping became %s", got)
	}
}

// After a reconnect nobody tells what came meanwhile: another epoch, and what was seen is history.
func TestAReconnectResets(t *testing.T) {
	memory := &protocol.Memory{}
	g := newGuest(t, memory)
	g.does(protocol.DoSubscribe, "r", nil)
	g.does(protocol.DoSend, "r", protocol.SendData{Text: "why?"})
	g.hears(says(`{"type":"output","payload":"because"}`))
	at := protocol.Position{Epoch: g.codec.sessions["r"].log.Epoch, Seq: g.state.Seq}

	again := newGuest(t, memory)
	again.codec.desk.Epoch = "e2"
	var r protocol.SubscribeResult
	again.result(again.does(protocol.DoSubscribe, "r", protocol.SubscribeData{Position: &at}), &r)
	if r.Mode != protocol.ModeReset || r.Reason != protocol.ResetEpoch || r.Snapshot.State.Turn != nil || r.Position.Epoch == at.Epoch {
		t.Errorf("subscribed: %+v", r)
	}
	var h protocol.HistoryResult
	again.result(again.does(protocol.DoHistory, "r", nil), &h)
	var told []string
	for _, raw := range h.Events {
		var e protocol.Event
		_ = json.Unmarshal(raw, &e)
		told = append(told, string(e.Type))
	}
	if got := strings.Join(told, " "); got != "message.user turn.started text.start text.delta text.end turn.ended" {
		t.Errorf("history: %s", got)
	}
}

// Attaching again on the same connection goes on where the client was.
func TestAttachingAgainResumes(t *testing.T) {
	g := follow(t)
	g.hears(says(`{"type":"status","payload":"a"}`), says(`{"type":"status","payload":"b"}`))
	g.story()
	at := protocol.Position{Epoch: g.codec.sessions["r"].log.Epoch, Seq: 1}
	g.state.Seq = 1
	var r protocol.SubscribeResult
	if g.result(g.does(protocol.DoSubscribe, "r", protocol.SubscribeData{Position: &at}), &r); r.Mode != protocol.ModeResume || g.story() != "notice caught_up" {
		t.Errorf("attached: %+v", r)
	}
	if said := g.flush(); said != nil {
		t.Errorf("said %s", said)
	}
}

// A server that leaves no notes would take a command for words to its agent.
func TestAForeignAgentHearsNoCommands(t *testing.T) {
	g := follow(t)
	g.hears(says(`{"type":"output","payload":"x"}`))
	for _, verb := range []protocol.Verb{protocol.DoInterrupt, protocol.DoApprove, protocol.DoQueueHold} {
		if id := g.does(verb, "r", nil); g.code(id) != protocol.CodeUnsupported || !strings.Contains(g.answers[id].Error.Message, Name) {
			t.Errorf("%s: %v", verb, g.answers[id])
		}
	}
	if said := g.flush(); said != nil {
		t.Errorf("said %s", said)
	}
}

// A server cannot make a state of any size.
func TestAStateHoldsSoMuch(t *testing.T) {
	one := map[protocol.Type]string{
		protocol.QueueAdded: `{"message_id":"%d"}`, protocol.QueueHeld: `{"id":"%d"}`, protocol.ApprovalRequested: `{"request":"%d"}`,
		protocol.TextStart: `{"part":"%d"}`, protocol.ToolStarted: `{"tool":"%d"}`, protocol.ApprovalExplained: `{"request":"0","text":"%d"}`,
		protocol.ApprovalResolved: `{"request":"x","rule":{"id":"%d"}}`,
	}
	for typ, data := range one {
		g := follow(t)
		told := func(typ protocol.Type, data string) {
			g.hears(says(`{"payload":` + data + `,"metadata":{"agentctl":{"event":"` + string(typ) + `","turn":"t"}}}`))
		}
		told(protocol.ApprovalRequested, `{"request":"0"}`)
		for i := range maxItems + 10 {
			told(typ, fmt.Sprintf(data, i))
		}
		if last := g.events[len(g.events)-1].Type; last != protocol.Raw {
			t.Errorf("the last of many %s is %s", typ, last)
		}
		if told(protocol.TurnEnded, `{"reason":"completed"}`); g.state.Turn != nil {
			t.Errorf("after many %s a turn does not end", typ)
		}
	}
}

// What is remembered is bounded.
func TestAClientRemembersSoMuch(t *testing.T) {
	g := newGuest(t, nil)
	for i := range 2 * maxRuntimes {
		id := g.does(protocol.DoSubscribe, fmt.Sprintf("r%d", i), nil)
		if full := g.answers[id].Error != nil; full != (i >= maxRuntimes) {
			t.Fatalf("%d: %v", i, g.answers[id].Error)
		}
	}
	for i := range maxRuntimes {
		g.does(protocol.DoUnsubscribe, fmt.Sprintf("r%d", i), nil)
		g.does(protocol.DoSubscribe, fmt.Sprintf("q%d", i), nil)
	}
	if n := len(g.codec.memory.sessions); n > maxRuntimes || n != len(g.codec.memory.order) {
		t.Errorf("%d sessions are remembered", n)
	}
	refused := 0
	for range 2 * maxWaiting {
		if id := g.does(protocol.DoSend, "r", protocol.SendData{Text: "x"}); g.answers[id].Error != nil {
			refused++
		}
	}
	if refused != maxWaiting {
		t.Errorf("%d sends were refused", refused)
	}
}
