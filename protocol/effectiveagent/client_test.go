package effectiveagent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// activityFrame wraps an activity of the runtime r.
func activityFrame(activity string) string {
	return `{"type":"activity","agentRuntimeId":"r","activity":` + activity + `}`
}

// newFollowingClient returns a client that is subscribed to r.
func newFollowingClient(t testing.TB) *clientHarness {
	g := newClientHarness(t, nil)
	g.send(protocol.DoSubscribe, "r", nil)
	g.eventTypes()
	g.flush()
	return g
}

func TestHelloTellsWhatTheDialectCanDo(t *testing.T) {
	g := newClientHarness(t, nil)
	var r protocol.HelloResult
	g.result(g.send(protocol.DoHello, "", protocol.HelloData{Version: protocol.Version, Name: "ada", Acks: true}), &r)
	if r.By.Name != "ada" || r.Window != 0 || !slices.Contains(r.Commands, protocol.DoSend) ||
		slices.Contains(r.Commands, protocol.DoList) {
		t.Errorf("hello: %+v", r)
	}
	id := g.send(protocol.DoList, "", nil)
	if g.code(id) != protocol.CodeUnsupported || !strings.Contains(g.answers[id].Error.Message, Name) {
		t.Errorf("list: %v", g.answers[id].Error)
	}
}

// EA-7, EA-8
func TestSubscribeAnswersAtOnce(t *testing.T) {
	g := newClientHarness(t, nil)
	var r protocol.SubscribeResult
	g.result(g.send(protocol.DoSubscribe, "r", nil), &r)
	if r.Mode != protocol.ModeSnapshot || r.Session != "r" || r.Position.Epoch == "" || g.eventTypes() != "caught_up" {
		t.Errorf("subscribed: %+v", r)
	}
	g.send(protocol.DoUnsubscribe, "r", nil)
	g.receive(activityFrame(`{"type":"output","payload":"late"}`))
	if got := g.eventTypes(); got != "" {
		t.Errorf("after unsubscribe: %s", got)
	}
	want := `{"type":"subscribe","agentRuntimeId":"r"}` + "\n" + `{"type":"unsubscribe","agentRuntimeId":"r"}`
	if got := strings.Join(g.flush(), "\n"); got != want {
		t.Errorf("sent %s", got)
	}
	if id := g.send(protocol.DoUnsubscribe, "r", nil); g.code(id) != protocol.CodeNotSubscribed {
		t.Errorf("unsubscribed twice: %s", g.code(id))
	}
}

// EA-6: the frame has the document's fields in its order, byte for byte.
func TestASendIsAnActivity(t *testing.T) {
	g := newFollowingClient(t)
	g.send(protocol.DoSend, "r", protocol.SendData{Text: "why?", ClientMessageID: "ui-1"})
	want := `{"type":"send","targetAgentRuntimeId":"r","payload":{"sequence":1,"timestamp":"2026-03-01T09:00:00.000Z","type":"input",` +
		`"payload":"why?","agentRuntimeId":"r","id":"ui-1","metadata":{"agentctl":{"command":"send","key":"key-2"}}}}`
	if sent := g.flush(); len(sent) != 1 || sent[0] != want {
		t.Errorf("sent %s", sent)
	}
	for _, d := range []protocol.SendData{
		{},
		{Text: "x", Front: true},
		{Text: "x", ClientMessageID: strings.Repeat("x", 300)},
	} {
		if id := g.send(protocol.DoSend, "r", d); g.answers[id].Error == nil {
			t.Errorf("%+v was sent", d)
		}
	}
}

// A message over the limit of agentctl's server is not sent.
func TestATooLargeSendIsRefused(t *testing.T) {
	g := newFollowingClient(t)
	id := g.send(protocol.DoSend, "r", protocol.SendData{Text: strings.Repeat("x", protocol.MaxMessage-100)})
	if e := g.answers[id].Error; e == nil || e.Code != protocol.CodeTooLarge || e.Limit != protocol.MaxMessage ||
		g.flush() != nil {
		t.Errorf("answered %v", e)
	}
}

// At a server without notes, the turn of a send starts at the client after 500 ms without an error.
// The send is answered at the first activity.
func TestASendIsAnsweredAtTheFirstActivity(t *testing.T) {
	g := newFollowingClient(t)
	id := g.send(protocol.DoSend, "r", protocol.SendData{Text: "why?"})
	g.advance(499 * time.Millisecond)
	if g.state.Turn != nil {
		t.Fatal("shown before the time")
	}
	g.advance(time.Millisecond)
	if _, ok := g.answers[id]; ok {
		t.Fatal("answered without evidence")
	}
	g.receive(activityFrame(`{"type":"input","payload":"why?"}`))
	var r protocol.SendResult
	g.result(id, &r)
	if r.Status != protocol.SendStarted || r.Turn == "" || r.Seq != 1 || g.eventTypes() != "message.user turn.started" {
		t.Errorf("answered %+v", r)
	}
	if m := g.state.Turn.Message; m.Text != "why?" || m.By.Name != "ada" || g.state.Status() != protocol.Running {
		t.Errorf("turn %+v", m)
	}
}

// Silence is no evidence that a message arrived. The message is shown anyway.
func TestASendWithoutEvidenceTimesOut(t *testing.T) {
	g := newFollowingClient(t)
	id := g.send(protocol.DoSend, "r", protocol.SendData{Text: "why?"})
	g.advance(errorTimeout)
	if _, answered := g.answers[id]; answered || g.state.Turn == nil || g.state.Turn.Message.Text != "why?" {
		t.Fatalf("answered %+v, turn %+v", g.answers[id], g.state.Turn)
	}
	if g.advance(sendTimeout); g.code(id) != protocol.CodeTimeout {
		t.Errorf("answered %+v", g.answers[id])
	}
}

// An input confirms the message that it repeats, any other activity the oldest one.
func TestAnActivityConfirmsOneMessage(t *testing.T) {
	g := newFollowingClient(t)
	one := g.send(protocol.DoSend, "r", protocol.SendData{Text: "one"})
	two := g.send(protocol.DoSend, "r", protocol.SendData{Text: "two"})
	three := g.send(protocol.DoSend, "r", protocol.SendData{Text: "three"})
	for i, c := range []struct {
		frame string
		done  []string
	}{
		{`{"type":"send","targetAgentRuntimeId":"r","payload":"three"}`, nil},
		{activityFrame(`{"type":"input","payload":"another"}`), nil},
		{activityFrame(`{"type":"input","payload":"two"}`), []string{two}},
		{activityFrame(`{"type":"output","payload":"x"}`), []string{two, one}},
		{activityFrame(`{"type":"output","payload":"x"}`), []string{two, one, three}},
	} {
		g.receive(c.frame)
		done := 0
		for _, id := range c.done {
			if a, ok := g.answers[id]; ok && a.Error == nil {
				done++
			}
		}
		if sends := g.codec.pendingSends("r"); done != len(c.done) || len(sends) != 3-done {
			t.Errorf("%d: %s: confirmed %d of %v, %d pending", i, c.frame, done, c.done, len(sends))
		}
	}
}

func TestASendToWhatIsNotFollowedIsAnswered(t *testing.T) {
	g := newClientHarness(t, nil)
	id := g.send(protocol.DoSend, "r", protocol.SendData{Text: "why?"})
	g.receive(activityFrame(`{"type":"output","payload":"x"}`))
	var r protocol.SendResult
	if g.result(id, &r); r.Status != protocol.SendStarted || g.eventTypes() != "" {
		t.Errorf("answered %+v", r)
	}
}

// After a reconnect, missed events are unknown: the epoch changes, and earlier turns are history.
func TestAReconnectResets(t *testing.T) {
	memory := &codec.ClientState{}
	g := newClientHarness(t, memory)
	g.send(protocol.DoSubscribe, "r", nil)
	g.send(protocol.DoSend, "r", protocol.SendData{Text: "why?"})
	g.receive(activityFrame(`{"type":"output","payload":"because"}`))
	at := protocol.Position{Epoch: g.codec.sessions["r"].log.Epoch, Seq: g.state.Seq}

	again := newClientHarness(t, memory)
	again.codec.Responder.Epoch = "e2"
	var r protocol.SubscribeResult
	again.result(again.send(protocol.DoSubscribe, "r", protocol.SubscribeData{Position: &at}), &r)
	if r.Mode != protocol.ModeReset || r.Reason != protocol.ResetResubscribed || r.Snapshot.State.Turn != nil ||
		r.Position.Epoch == at.Epoch {
		t.Errorf("subscribed: %+v", r)
	}
	var h protocol.HistoryResult
	again.result(again.send(protocol.DoHistory, "r", nil), &h)
	var types []string
	for _, raw := range h.Events {
		var e protocol.Event
		_ = json.Unmarshal(raw, &e)
		types = append(types, string(e.Type))
	}
	if got := strings.Join(types, " "); got != "message.user turn.started text.start text.delta text.end turn.ended" {
		t.Errorf("history: %s", got)
	}
}

// Subscribing again on the same connection resumes.
func TestAttachingAgainResumes(t *testing.T) {
	g := newFollowingClient(t)
	g.receive(activityFrame(`{"type":"status","payload":"a"}`), activityFrame(`{"type":"status","payload":"b"}`))
	g.eventTypes()
	at := protocol.Position{Epoch: g.codec.sessions["r"].log.Epoch, Seq: 1}
	g.state.Seq = 1
	var r protocol.SubscribeResult
	if g.result(g.send(protocol.DoSubscribe, "r", protocol.SubscribeData{Position: &at}),
		&r); r.Mode != protocol.ModeResume || g.eventTypes() != "notice caught_up" {
		t.Errorf("attached: %+v", r)
	}
	if sent := g.flush(); sent != nil {
		t.Errorf("sent %s", sent)
	}
}

// A server without notes would pass a command to its agent, so it is not sent.
func TestAForeignAgentHearsNoCommands(t *testing.T) {
	g := newFollowingClient(t)
	g.receive(activityFrame(`{"type":"output","payload":"x"}`))
	for _, verb := range []protocol.Verb{protocol.DoInterrupt, protocol.DoApprove, protocol.DoQueueHold} {
		if id := g.send(verb, "r", nil); g.code(id) != protocol.CodeUnsupported ||
			!strings.Contains(g.answers[id].Error.Message, Name) {
			t.Errorf("%s: %v", verb, g.answers[id])
		}
	}
	if id := g.send(protocol.DoInterrupt, "else", nil); g.code(id) != protocol.CodeUnsupported {
		t.Errorf("without a subscription: %v", g.answers[id])
	}
	if sent := g.flush(); sent != nil {
		t.Errorf("sent %s", sent)
	}
}

// The size of a state is bounded.
func TestAStateHoldsSoMuch(t *testing.T) {
	one := map[protocol.Type]string{
		protocol.QueueAdded: `{"message_id":"%d"}`, protocol.QueueHeld: `{"id":"%d"}`,
		protocol.ApprovalRequested: `{"request":"%d"}`,
		protocol.TextStart:         `{"part":"%d"}`, protocol.ToolStarted: `{"tool":"%d"}`,
		protocol.ApprovalExplained: `{"request":"0","text":"%d"}`,
		protocol.ApprovalResolved:  `{"request":"x","rule":{"id":"%d"}}`,
	}
	for typ, data := range one {
		g := newFollowingClient(t)
		receive := func(typ protocol.Type, data string) {
			g.receive(activityFrame(`{"payload":` + data + `,"metadata":{"agentctl":{"event":"` + string(typ) +
				`","turn":"t"}}}`))
		}
		receive(protocol.ApprovalRequested, `{"request":"0"}`)
		for i := range maxItems + 10 {
			receive(typ, fmt.Sprintf(data, i))
		}
		if last := g.events[len(g.events)-1].Type; last != protocol.Raw {
			t.Errorf("the last of many %s is %s", typ, last)
		}
		if receive(protocol.TurnEnded, `{"reason":"completed"}`); g.state.Turn != nil {
			t.Errorf("after many %s a turn does not end", typ)
		}
	}
}

// The client's memory is bounded.
func TestAClientRemembersSoMuch(t *testing.T) {
	g := newClientHarness(t, nil)
	for i := range 2 * maxRuntimes {
		id := g.send(protocol.DoSubscribe, fmt.Sprintf("r%d", i), nil)
		if full := g.answers[id].Error != nil; full != (i >= maxRuntimes) {
			t.Fatalf("%d: %v", i, g.answers[id].Error)
		}
	}
	for i := range maxRuntimes {
		g.send(protocol.DoUnsubscribe, fmt.Sprintf("r%d", i), nil)
		g.send(protocol.DoSubscribe, fmt.Sprintf("q%d", i), nil)
	}
	if n := len(g.codec.state.sessions); n > maxRuntimes || n != len(g.codec.state.order) {
		t.Errorf("%d sessions are remembered", n)
	}
	refused := 0
	for range 2 * maxWaiting {
		if id := g.send(protocol.DoSend, "r", protocol.SendData{Text: "x"}); g.answers[id].Error != nil {
			refused++
		}
	}
	if refused != maxWaiting {
		t.Errorf("%d sends were refused", refused)
	}
}

// A third-party server knows no keys: a message whose connection broke is not sent again, and its
// command fails.
func TestWhatMayHaveArrivedIsNotSentTwice(t *testing.T) {
	for _, c := range []struct {
		name     string
		guest    func(testing.TB, *codec.ClientState) *clientHarness
		answered bool // the command was answered before the connection broke
		again    bool // it is sent again
	}{
		{"unanswered", newClientHarness, false, false},
		{"answered", newClientHarness, true, true},
		{"to agentctl", newAgentctlClientHarness, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			memory := &codec.ClientState{}
			g := c.guest(t, memory)
			send := func() string {
				id := g.send(protocol.DoSend, "r", protocol.SendData{Text: "why?"})
				if s := g.codec.sessions["r"]; !s.resumeBy.IsZero() { // it waits for the resume
					g.handleOutput(g.codec.run(g.now, func() { s.resume(&note{}); g.codec.release(s) }))
				}
				return id
			}
			send()
			if c.answered {
				g.receive(activityFrame(`{"type":"output","payload":"x"}`))
			}
			g = c.guest(t, memory)
			id := send()
			sent := strings.Contains(strings.Join(g.sent, ""), "why?")
			if refused := g.code(id) == protocol.CodeTimeout; sent != c.again || refused == c.again {
				t.Errorf("sent again: %t, answered %+v", sent, g.answers[id])
			}
			if c.again {
				return
			}
			if g.last = 0; send() == "" || !strings.Contains(strings.Join(g.sent, ""), "why?") {
				t.Error("a client that still sends it is always refused")
			}
		})
	}
}
