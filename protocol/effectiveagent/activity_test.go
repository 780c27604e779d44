package effectiveagent

import (
	"strings"
	"testing"
	"time"

	"agentctl/protocol/codec"

	"agentctl/protocol"
)

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
		{`{"type":"error","payload":{"message":"no","error":"E"}}`, "error raw", ""},
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

// EA-24: a message has an id, whether the server gives it a usable one or none.
func TestEveryMessageHasAnID(t *testing.T) {
	for given, kept := range map[string]bool{``: false, `"id":"x1",`: true, `"id":"` + strings.Repeat("x", maxID+1) + `",`: false, `"id":7,`: false} {
		g := follow(t)
		g.hears(says(`{` + given + `"type":"input","payload":"hi"}`))
		if id := g.state.Turn.Message.MessageID; id == "" || len(id) > maxID || (id == "x1") != kept {
			t.Errorf("%.20s: %.20q", given, id)
		}
	}
	g := follow(t)
	g.take(g.codec.Native(g.now, []byte(`{"id":"1","command":"send","session":"r","data":{"text":"hi"}}`)))
	g.waits(grace)
	if g.state.Turn.Message.MessageID == "" || !strings.Contains(g.flush()[0], `"id":"`+g.state.Turn.Message.MessageID+`"`) {
		t.Errorf("sent without a name: %+v", g.state.Turn.Message)
	}
}

// Who speaks is told where it is not the agent itself.
func TestAPartNamesAnotherSpeaker(t *testing.T) {
	for source, want := range map[string]string{"r": "", "coder": "coder"} {
		g := follow(t)
		g.hears(says(`{"type":"output","payload":"hi","metadata":{"sourceAgentRuntimeId":"` + source + `"}}`))
		if got := g.transcript.Turns[0].Items[0].Agent; got != want {
			t.Errorf("said by %s: agent %q, want %q", source, got, want)
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
	system := newClient(codec.ClientOptions{ID: ids(), Resume: &codec.ClientState{}, Options: map[string]string{"activities": "system"}})
	out := system.Native(start, []byte(`{"id":"1","command":"send","session":"r","data":{"text":"hi"}}`))
	if len(out.Foreign) != 2 || !strings.Contains(string(out.Foreign[1].Data), `"COMMAND"`) {
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
	for _, at := range []string{`null`, `"soon"`, `-1`, `1e300`, `1e15`, `"9999-12-31T23:59:59-01:00"`, `"0000-01-01T00:00:00+01:00"`, `{}`} {
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
	long := strings.Repeat("é\x01", 60<<10)
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

// A server may tell every input to who subscribed, the sender too, and need not keep the sender's id: the document's activity has
// none.
func TestOurWordsToldBackAreNotASecondMessage(t *testing.T) {
	input := func(text string) string { return says(`{"sequence":1,"type":"input","payload":` + text + `}`) }
	g := follow(t)
	for _, words := range []string{"one", "two"} {
		g.does(protocol.DoSend, "r", protocol.SendData{Text: words})
	}
	g.hears(input(`"one"`), input(`{"text":"two"}`))
	if got := g.story(); got != "message.user turn.started turn.ended message.user turn.started" {
		t.Errorf("sent and told back: %s", got)
	}
	g.hears(input(`"two"`))
	if m := g.state.Turn.Message; m.Text != "two" || m.By.Name != Name || g.story() != "turn.ended message.user turn.started" {
		t.Errorf("told once more: %+v", m)
	}

	g.does(protocol.DoSend, "r", protocol.SendData{Text: "go on"})
	g.hears(`{"type":"send","targetAgentRuntimeId":"r","payload":{"type":"input","payload":"go on"}}`)
	if m := g.state.Turn.Message; m.By.Name != Name {
		t.Errorf("what another client says as well: %+v", m)
	}
	g.does(protocol.DoSend, "r", protocol.SendData{Text: "go on"})
	g.hears(says(`{"type":"output","payload":"I did"}`))
	g.story()
	if g.hears(input(`"go on"`)); g.story() != "turn.ended message.user turn.started" {
		t.Error("what is said after the answer is not a message of its own")
	}
}

// Nothing unknown is dropped, and nothing hostile ends anything.
func TestWhatIsNotUnderstoodIsKept(t *testing.T) {
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	for _, f := range []string{
		`{`, "\xff", `7`, `null`, `[]`, `{}`, `{"type":"greeting","agentRuntimeId":"r"}`, `{"type":"greeting"}`, `{"type":"activity"}`,
		says(`[]`), deep, says(`{"type":"output","payload":` + deep + `}`), `"` + strings.Repeat("x", 300<<10) + `"`,
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
