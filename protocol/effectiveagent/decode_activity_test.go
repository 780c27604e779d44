package effectiveagent

import (
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// EA-10, EA-24: activities of the document and of the real system, complete or not.
func TestActivitiesBecomeATurn(t *testing.T) {
	for _, c := range []struct{ frame, story, text string }{
		{`{"sequence":1,"timestamp":"2024-07-29T10:00:00Z","type":"output","payload":"hi","agentRuntimeId":"r"}`, "message.user turn.started text.start text.delta text.end", "hi"},
		{`{"id":"a","agentRuntimeId":"r","timestamp":1722247200000,"type":"RESPONSE","payload":{"text":"hi"},"sequence":4,"metadata":{}}`, "message.user turn.started text.start text.delta text.end", "hi"},
		{
			`{"type":"EVENT","payload":{"content":"hi","n":1},"metadata":{"priority":1}}`,
			"message.user turn.started text.start text.delta text.end raw", "hi",
		},
		{`{"type":"output","payload":{"n":1}}`, "message.user turn.started raw", ""},
		{`{"type":"output"}`, "message.user turn.started raw", ""},
		{`{"type":"input","payload":"hi"}`, "message.user turn.started", ""},
		{
			`{"type":"QUERY","payload":"hi","metadata":{"sourceAgentRuntimeId":"other"}}`, "message.user turn.started",
			"",
		},
		{`{"type":"error","payload":{"message":"no","error":"E"}}`, "error raw", ""},
		{`{"type":"ERROR","payload":"no"}`, "error", ""},
		{`{"type":"status","payload":"thinking"}`, "notice", ""},
		{`{"type":"error","payload":{"message":"no"}}`, "error", ""},
		{`{"type":"STATE_CHANGE","payload":{"state":"idle"}}`, "notice", ""},
		{`{"type":"STATE_CHANGE","payload":{"state":"idle","n":1}}`, "notice raw", ""},
		{`{"type":"SYSTEM","payload":{"n":1}}`, "raw", ""},
		{`{"type":"of.tomorrow","payload":"x"}`, "raw", ""},
		{`{"type":7,"payload":"x"}`, "raw", ""},
		{`"what"`, "raw", ""},
		{`null`, "raw", ""},
	} {
		g := newFollowingClient(t)
		g.receive(activityFrame(c.frame))
		if got := g.eventTypes(); got != c.story {
			t.Errorf("%s became %s, want %s", c.frame, got, c.story)
		}
		if c.text != "" && (g.state.Turn == nil || string(g.transcript.Turns[0].Items[0].Text) != c.text) {
			t.Errorf("%s: transcript %s", c.frame, protocol.MustEncode(g.transcript))
		}
	}
}

// EA-24: a message gets an id if the server gives none, or an unusable one.
func TestEveryMessageHasAnID(t *testing.T) {
	for given, kept := range map[string]bool{
		``: false, `"id":"x1",`: true,
		`"id":"` + strings.Repeat("x", maxID+1) + `",`: false, `"id":7,`: false,
	} {
		g := newFollowingClient(t)
		g.receive(activityFrame(`{` + given + `"type":"input","payload":"hi"}`))
		if id := g.state.Turn.Message.MessageID; id == "" || len(id) > maxID || (id == "x1") != kept {
			t.Errorf("%.20s: %.20q", given, id)
		}
	}
	g := newFollowingClient(t)
	g.handleOutput(g.codec.Native(g.now, []byte(`{"id":"1","command":"send","session":"r","data":{"text":"hi"}}`)))
	g.advance(errorTimeout)
	if g.state.Turn.Message.MessageID == "" ||
		!strings.Contains(g.flush()[0], `"id":"`+g.state.Turn.Message.MessageID+`"`) {
		t.Errorf("sent without a name: %+v", g.state.Turn.Message)
	}
}

// A part names a speaker other than the agent itself.
func TestAPartNamesAnotherSpeaker(t *testing.T) {
	for source, want := range map[string]string{"r": "", "coder": "coder"} {
		g := newFollowingClient(t)
		g.receive(activityFrame(`{"type":"output","payload":"hi","metadata":{"sourceAgentRuntimeId":"` + source +
			`"}}`))
		if got := g.transcript.Turns[0].Items[0].Agent; got != want {
			t.Errorf("sent by %s: agent %q, want %q", source, got, want)
		}
	}
}

// EA-24: a server gets activities in its own form.
func TestASendHasTheServersForm(t *testing.T) {
	g := newFollowingClient(t)
	for _, c := range []struct{ frame, want string }{
		{activityFrame(`{"type":"EVENT","payload":"x"}`), `"timestamp":1772355600000,"type":"COMMAND"`},
		{activityFrame(`{"type":"of.tomorrow","payload":"x"}`), `"timestamp":1772355600000,"type":"COMMAND"`},
		{`{"type":"send","targetAgentRuntimeId":"r","payload":{"type":"output","payload":"x"}}`, `"timestamp":"2026-03-01T09:00:00.000Z","type":"input"`},
	} {
		g.receive(c.frame)
		g.send(protocol.DoSend, "r", protocol.SendData{Text: "hi"})
		if sent := g.flush(); len(sent) != 1 || !strings.Contains(sent[0], c.want) {
			t.Errorf("after %s: %s", c.frame, sent)
		}
	}
	system := newClient(codec.ClientOptions{
		ID: ids(), Resume: &codec.ClientState{},
		Options: map[string]string{"activities": "system"},
	})
	out := system.Native(start, []byte(`{"id":"1","command":"send","session":"r","data":{"text":"hi"}}`))
	if len(out.Foreign) != 2 || !strings.Contains(string(out.Foreign[1].Data), `"COMMAND"`) {
		t.Errorf("sent %v", out.Foreign)
	}
}

// EA-24: times of either kind are the events' times.
func TestTimesAreKept(t *testing.T) {
	want := time.Date(2024, 7, 29, 10, 0, 0, 0, time.UTC)
	for _, at := range []string{
		`"2024-07-29T10:00:00Z"`, `"2024-07-29T12:00:00.000+02:00"`, `1722247200000`,
		`"2024-07-29T10:00:00"`,
	} {
		g := newFollowingClient(t)
		g.receive(activityFrame(`{"type":"status","payload":"x","timestamp":` + at + `}`))
		if got := g.events[0].Time; !got.Equal(want) {
			t.Errorf("%s became %s", at, got)
		}
	}
	for _, at := range []string{
		`null`, `"soon"`, `-1`, `1e300`, `1e15`, `"9999-12-31T23:59:59-01:00"`,
		`"0000-01-01T00:00:00+01:00"`, `{}`,
	} {
		g := newFollowingClient(t)
		g.receive(activityFrame(`{"type":"status","payload":"x","timestamp":` + at + `}`))
		if got := g.events[0].Time; !got.Equal(start) {
			t.Errorf("%s became %s", at, got)
		}
	}
}

// A turn without an end is over when its agent is idle, reports it, or gets another message.
func TestATurnWithoutAnEndIsOver(t *testing.T) {
	answered := func() *clientHarness {
		g := newFollowingClient(t)
		g.send(protocol.DoSend, "r", protocol.SendData{Text: "why?"})
		g.receive(activityFrame(`{"type":"output","payload":"because"}`))
		if got := g.eventTypes(); got != "message.user turn.started text.start text.delta text.end" {
			t.Fatalf("answered: %s", got)
		}
		return g
	}
	g := answered()
	g.advance(defaultIdleTimeout - time.Millisecond)
	if g.state.Turn == nil {
		t.Error("over too early")
	}
	if g.advance(time.Millisecond); g.state.Turn != nil || g.state.Last.Reason != protocol.ReasonCompleted {
		t.Errorf("after a quiet time: %+v", g.state.Last)
	}
	for frame, want := range map[string]protocol.Reason{
		`{"type":"status","payload":"idle"}`:                          protocol.ReasonCompleted,
		`{"type":"STATE_CHANGE","payload":{"status":"Completed"}}`:    protocol.ReasonCompleted,
		`{"type":"STATE_CHANGE","payload":{"state":"failed"}}`:        protocol.ReasonError,
		`{"type":"status","payload":{"status":"interrupted","n":[]}}`: protocol.ReasonInterrupted,
		`{"type":"input","payload":"and?"}`:                           protocol.ReasonCompleted,
	} {
		g := answered()
		g.receive(activityFrame(frame))
		if g.state.Last == nil || g.state.Last.Reason != want {
			t.Errorf("%s: %+v", frame, g.state.Last)
		}
	}
	g = answered()
	g.receive(activityFrame(`{"type":"error","payload":"broken"}`))
	if g.advance(defaultIdleTimeout); g.state.Last.Reason != protocol.ReasonError {
		t.Errorf("after an error: %+v", g.state.Last)
	}
	g = newFollowingClient(t)
	g.send(protocol.DoSend, "r", protocol.SendData{Text: "why?"})
	if g.advance(time.Hour); g.state.Turn == nil {
		t.Error("a turn without an answer is over")
	}
}

// Text that is too long for an event is split; other data is reported.
func TestLongWordsAreSplit(t *testing.T) {
	g := newFollowingClient(t)
	long := strings.Repeat("é\x01", 60<<10)
	g.receive(activityFrame(string(protocol.MustEncode(map[string]any{"type": "output", "payload": long}))))
	if got := string(g.transcript.Turns[0].Items[0].Text); got != long {
		t.Errorf("%d of %d bytes came", len(got), len(long))
	}
	g.receive(activityFrame(string(protocol.MustEncode(map[string]any{"type": "input", "payload": long}))))
	if m := g.state.Turn.Message.Text; !strings.HasPrefix(long, m) || len(m) < 30<<10 {
		t.Errorf("a message of %d bytes", len(m))
	}
	for _, e := range g.events {
		if n := len(e.AppendJSON(nil)); n > protocol.MaxEvent {
			t.Errorf("%s has %d bytes", e.Type, n)
		}
	}
}

// EA-25: another client's message, relayed by the server, is a message; an echo of this client's is
// not.
func TestARelayedSendIsAMessage(t *testing.T) {
	g := newFollowingClient(t)
	g.receive(`{"type":"send","targetAgentRuntimeId":"r","payload":{"id":"x1","type":"COMMAND","payload":{"text":"hello"},"metadata":{"sourceAgentRuntimeId":"grace"}}}`)
	if m := g.state.Turn.Message; m.Text != "hello" || m.MessageID != "x1" || m.By.Name != "grace" {
		t.Errorf("relayed: %+v", m)
	}
	g.eventTypes()
	g.receive(`{"type":"send","targetAgentRuntimeId":"r","payload":"bare"}`,
		`{"type":"send","targetAgentRuntimeId":"else","payload":"not ours"}`)
	if m := g.state.Turn.Message; m.Text != "bare" || g.eventTypes() != "turn.ended message.user turn.started" {
		t.Errorf("relayed: %+v", m)
	}
	g.send(protocol.DoSend, "r", protocol.SendData{Text: "mine", ClientMessageID: "ui-1"})
	g.advance(errorTimeout)
	g.eventTypes()
	g.receive(activityFrame(`{"id":"ui-1","type":"input","payload":"mine"}`))
	if got := g.eventTypes(); got != "" {
		t.Errorf("our own words came back as %s", got)
	}
}

// A server may echo every input to its subscribers, the sender included, without the sender's id:
// the document's activity has none.
func TestOurWordsToldBackAreNotASecondMessage(t *testing.T) {
	input := func(text string) string { return activityFrame(`{"sequence":1,"type":"input","payload":` + text + `}`) }
	g := newFollowingClient(t)
	for _, words := range []string{"one", "two"} {
		g.send(protocol.DoSend, "r", protocol.SendData{Text: words})
	}
	g.receive(input(`"one"`), input(`{"text":"two"}`))
	if got := g.eventTypes(); got != "message.user turn.started turn.ended message.user turn.started" {
		t.Errorf("sent and echoed: %s", got)
	}
	g.receive(input(`"two"`))
	if m := g.state.Turn.Message; m.Text != "two" || m.By.Name != Name ||
		g.eventTypes() != "turn.ended message.user turn.started" {
		t.Errorf("echoed again: %+v", m)
	}

	g.send(protocol.DoSend, "r", protocol.SendData{Text: "go on"})
	g.receive(`{"type":"send","targetAgentRuntimeId":"r","payload":{"type":"input","payload":"go on"}}`)
	if m := g.state.Turn.Message; m.By.Name != Name {
		t.Errorf("what another client says as well: %+v", m)
	}
	g.send(protocol.DoSend, "r", protocol.SendData{Text: "go on"})
	g.receive(activityFrame(`{"type":"output","payload":"I did"}`))
	g.eventTypes()
	if g.receive(input(`"go on"`)); g.eventTypes() != "turn.ended message.user turn.started" {
		t.Error("an input after the answer is not a separate message")
	}
}

// Unknown messages are kept, and hostile ones do not end the session.
func TestWhatIsNotUnderstoodIsKept(t *testing.T) {
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	for _, f := range []string{
		`{`, "\xff", `7`, `null`, `[]`, `{}`, `{"type":"greeting","agentRuntimeId":"r"}`, `{"type":"greeting"}`,
		`{"type":"activity"}`,
		activityFrame(`[]`), deep, activityFrame(`{"type":"output","payload":` + deep + `}`), `"` +
			strings.Repeat("x", 300<<10) + `"`,
		activityFrame(`{"type":"x","metadata":{"agentctl":{"event":"of.tomorrow"}}}`),
		activityFrame(`{"metadata":{"agentctl":{"event":"text.delta","turn":"t"}},"payload":7}`),
		activityFrame(`{"metadata":{"agentctl":{"event":"caught_up"}},"payload":{}}`),
		activityFrame(`{"metadata":{"agentctl":{"event":"message.user"}},"payload":{}}`),
	} {
		g := newFollowingClient(t)
		g.receive(f)
		if got := g.eventTypes(); got != "raw" {
			t.Errorf("%.60q became %q", f, got)
		}
		if id := g.send(protocol.DoPing, "", nil); g.answers[id].Error != nil {
			t.Errorf("after %.60q: %v", f, g.answers[id].Error)
		}
	}
	g := newFollowingClient(t)
	g.receive(`{"type":"error"}`)
	if got := g.eventTypes(); got != "error" {
		t.Errorf("an empty error became %s", got)
	}
	g.receive(`{"agentRuntimeId":"r","type":"EVENT","payload":"bare"}`)
	if got := g.eventTypes(); !strings.HasPrefix(got, "message.user") {
		t.Errorf("an activity without wrapping became %s", got)
	}
}
