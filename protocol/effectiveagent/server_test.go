package effectiveagent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// EA-9, EA-10: the document's fields in its order, byte for byte.
func TestAnEventIsAnActivity(t *testing.T) {
	h := newServerHarness(t)
	if sent := h.receive(`{"type":"subscribe","agentRuntimeId":"fix-ci"}`); sent != nil {
		t.Fatalf("a subscription is answered: %s", sent)
	}
	for _, c := range []struct {
		typ        protocol.Type
		data       any
		kind, want string
	}{
		{
			protocol.MessageUser,
			protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "why?"}},
			"input", `{"message_id":"m1","text":"why?"}`,
		},
		{protocol.TextStart, protocol.PartStartData{Part: "p1"}, "status", `{"part":"p1"}`},
		{
			protocol.TextDelta,
			protocol.PartDeltaData{Part: "p1", Text: "because"},
			"output",
			`{"part":"p1","text":"because"}`,
		},
		{
			protocol.ErrorRaised,
			protocol.ErrorData{Kind: "timeout", Message: "too slow"},
			"error",
			`{"kind":"timeout","message":"too slow"}`,
		},
		{
			protocol.TurnEnded,
			protocol.TurnEndedData{Reason: protocol.ReasonCompleted},
			"status",
			`{"reason":"completed","duration_ms":0}`,
		},
		{
			protocol.TurnEnded,
			protocol.TurnEndedData{Reason: protocol.ReasonRefusal},
			"error",
			`{"reason":"refusal","duration_ms":0}`,
		},
	} {
		sent := h.publish("s1", c.typ, "t1", c.data)
		seq := h.states["s1"].Seq
		want := fmt.Sprintf(`{"type":"activity","agentRuntimeId":"fix-ci","activity":{"sequence":%d,"timestamp":"2026-03-01T09:00:%02d.000Z",`+
			`"type":"%s","payload":%s,"agentRuntimeId":"fix-ci","id":"9f3ac1:%d","metadata":{"agentctl":{"event":"%s","turn":"t1"}}}}`,
			seq, seq-1, c.kind, c.want, seq, c.typ)
		if len(sent) != 1 || sent[0] != want {
			t.Errorf("%s:\n got %s\nwant %s", c.typ, sent, want)
		}
	}
}

// EA-7, EA-8, EA-17: a subscription starts now, without a reply; a repeated one has no effect;
// other runtimes are unaffected; each session is subscribed once.
func TestAClientFollowsWhatItSubscribedTo(t *testing.T) {
	h := newServerHarness(t)
	notice := protocol.NoticeData{Level: protocol.LevelInfo, Message: "x"}
	h.publish("s1", protocol.Notice, "", notice)
	if sent := h.receive(
		`{"type":"subscribe","agentRuntimeId":"s1"}`, `{"type":"subscribe","agentRuntimeId":"s1"}`,
		`{"type":"subscribe","agentRuntimeId":"fix-ci"}`,
		`{"type":"subscribe","agentRuntimeId":"s2"}`, `{"type":"unsubscribe","agentRuntimeId":"never"}`,
	); sent != nil {
		t.Fatalf("answered with %s", sent)
	}
	if got, want := h.verbs(),
		"hello , snapshot s1, subscribe s1, snapshot fix-ci, snapshot s2, subscribe s2"; got != want {
		t.Fatalf("asked for %s, want %s", got, want)
	}
	if c := h.commands[2]; string(c.Data) != `{"position":"9f3ac1:1","raw":true}` {
		t.Errorf("subscribed with %s", c.Data)
	}
	names := func(sent []string) (list []string) {
		for _, f := range sent {
			var m struct{ AgentRuntimeID string }
			_ = json.Unmarshal([]byte(f), &m)
			list = append(list, m.AgentRuntimeID)
		}
		return list
	}
	if got := names(h.publish("s1", protocol.Notice, "", notice)); !slices.Equal(got, []string{"s1", "fix-ci"}) {
		t.Errorf("activities for %v", got)
	}
	h.receive(`{"type":"unsubscribe","agentRuntimeId":"s1"}`)
	if got := names(h.publish("s1", protocol.Notice, "", notice)); !slices.Equal(got, []string{"fix-ci"}) {
		t.Errorf("activities for %v", got)
	}
	h.receive(`{"type":"unsubscribe","agentRuntimeId":"fix-ci"}`)
	if got := h.publish("s1", protocol.Notice, "", notice); got != nil || h.followed["s1"] {
		t.Errorf("activities after the last unsubscribe: %v", got)
	}
	if got := names(h.publish("s2", protocol.Notice, "", notice)); !slices.Equal(got, []string{"s2"}) {
		t.Errorf("activities for %v", got)
	}
}

// A repeated event, as after a quick unsubscribe and subscribe, is one activity.
func TestNoActivityComesTwice(t *testing.T) {
	h := newServerHarness(t)
	h.receive(`{"type":"subscribe","agentRuntimeId":"s1"}`)
	line := h.newEvent("s1", protocol.Notice, "", protocol.NoticeData{Message: "x"})
	h.handleOutput(h.codec.Native(start, line))
	h.handleOutput(h.codec.Native(start, line))
	if sent := h.flush(); len(sent) != 1 {
		t.Errorf("%d activities", len(sent))
	}
}

// After a reset, activities continue from the end of the new log.
func TestAResetGoesOnFromNow(t *testing.T) {
	h := newServerHarness(t)
	h.resets = true
	h.publish("s1", protocol.Notice, "", protocol.NoticeData{Message: "old"})
	h.receive(`{"type":"subscribe","agentRuntimeId":"s1"}`)
	sent := h.publish("s1", protocol.Notice, "", protocol.NoticeData{Message: "new"})
	if len(sent) != 1 || !strings.Contains(sent[0], `"id":"b20e77:2"`) {
		t.Errorf("sent %s", sent)
	}
}

// EA-6: the text is a string payload, the text or content of an object, else its JSON; the payload
// of a send is an activity, or only the text.
func TestASendIsRoutedToItsRuntime(t *testing.T) {
	for payload, want := range map[string]protocol.SendData{
		`{"sequence":1,"timestamp":"2026-03-01T09:00:00Z","type":"input","payload":"hi","agentRuntimeId":"s1"}`:    {Text: "hi"},
		`{"id":"a1","timestamp":1709283600000,"type":"COMMAND","payload":{"text":"hi","lang":"en"},"metadata":{}}`: {Text: "hi", ClientMessageID: "a1"},
		`{"type":"COMMAND","payload":{"content":"hi"}}`:                                                            {Text: "hi"},
		`{"type":"COMMAND","payload":{"do":"it","n":[1, 2]}}`:                                                      {Text: `{"do":"it","n":[1,2]}`},
		`{"type":"COMMAND","payload":7}`:                                                                           {Text: "7"},
		`{"payload":"hi","metadata":"what","id":7,"type":[]}`:                                                      {Text: "hi"},
		`"hi"`:          {Text: "hi"},
		`{"text":"hi"}`: {Text: "hi"},
	} {
		h := newServerHarness(t)
		if sent := h.receive(`{"type":"send","targetAgentRuntimeId":"s1","payload":` + payload + `}`); sent != nil {
			t.Errorf("%s is answered with %s", payload, sent)
			continue
		}
		c := h.commands[len(h.commands)-1]
		if c.Command != protocol.DoSend || c.Session != "s1" || string(c.Data) != string(protocol.MustEncode(want)) {
			t.Errorf("%s became %s %s %s", payload, c.Command, c.Session, c.Data)
		}
	}
}

// EA-24: a client gets activities in its own form.
func TestAnActivityHasTheClientsForm(t *testing.T) {
	h := newServerHarness(t)
	h.receive(`{"type":"subscribe","agentRuntimeId":"s1"}`)
	for _, c := range []struct{ frame, want string }{
		{`{"type":"COMMAND","timestamp":1,"payload":"hi"}`, `"timestamp":1772355600000,"type":"STATE_CHANGE"`},
		{`"hi"`, `"timestamp":1772355601000,"type":"STATE_CHANGE"`},
		{`{"type":"input","payload":"hi"}`, `"timestamp":"2026-03-01T09:00:02.000Z","type":"status"`},
	} {
		h.receive(`{"type":"send","targetAgentRuntimeId":"s1","payload":` + c.frame + `}`)
		if sent := h.publish("s1", protocol.Notice, "", protocol.NoticeData{Message: "x"}); len(sent) != 1 ||
			!strings.Contains(sent[0], c.want) {
			t.Errorf("after %s: %s", c.frame, sent)
		}
	}
}

// EA-11 to EA-16: errors go to the sender, with the document's codes and without internal detail;
// the connection stays open.
func TestWhatIsWrongIsTold(t *testing.T) {
	for _, c := range []struct{ frame, want string }{
		{`{"type":`, `{"type":"error","code":"PARSE_ERROR","message":"Failed to parse incoming message","details":"SyntaxError"}`},
		{"\xff\xfe", `{"type":"error","code":"PARSE_ERROR","message":"Failed to parse incoming message","details":"SyntaxError"}`},
		{``, `{"type":"error","code":"PARSE_ERROR","message":"Failed to parse incoming message","details":"SyntaxError"}`},
		{`null`, `{"type":"error","code":"VALIDATION_ERROR","message":"Invalid message format: not an object"}`},
		{`[1]`, `{"type":"error","code":"VALIDATION_ERROR","message":"Invalid message format: not an object"}`},
		{`{}`, `{"type":"error","code":"UNKNOWN_MESSAGE_TYPE","message":"Unknown message type: undefined"}`},
		{`{"type":7}`, `{"type":"error","code":"UNKNOWN_MESSAGE_TYPE","message":"Unknown message type: 7"}`},
		{`{"type":"frob"}`, `{"type":"error","code":"UNKNOWN_MESSAGE_TYPE","message":"Unknown message type: frob"}`},
		{`{"type":"activity"}`, `{"type":"error","code":"UNKNOWN_MESSAGE_TYPE","message":"Unknown message type: activity"}`},
		{`{"type":"subscribe"}`, `{"type":"error","code":"VALIDATION_ERROR","message":"Invalid message format: agentRuntimeId must be a string of 1 to 256 bytes"}`},
		{`{"type":"unsubscribe","agentRuntimeId":["s1"]}`, `{"type":"error","code":"VALIDATION_ERROR","message":"Invalid message format: agentRuntimeId must be a string of 1 to 256 bytes"}`},
		{`{"type":"send","agentRuntimeId":"s1","payload":"x"}`, `{"type":"error","code":"VALIDATION_ERROR","message":"Invalid message format: targetAgentRuntimeId must be a string of 1 to 256 bytes"}`},
		{`{"type":"send","targetAgentRuntimeId":"s1"}`, `{"type":"error","code":"VALIDATION_ERROR","message":"Invalid message format: payload must be an activity"}`},
		{`{"type":"send","targetAgentRuntimeId":"s1","payload":{"type":"input","payload":""}}`, `{"type":"error","code":"VALIDATION_ERROR","message":"Invalid message format: payload must be an activity with content"}`},
		{`{"type":"send","targetAgentRuntimeId":"s1","payload":{"type":"input"}}`, `{"type":"error","code":"VALIDATION_ERROR","message":"Invalid message format: payload must be an activity with content"}`},
		{`{"type":"send","targetAgentRuntimeId":"gone","payload":"x"}`, `{"type":"error","code":"AGENT_RUNTIME_SEND_FAILED","message":"AgentRuntimeService failed to process input for gone: no session is called \"gone\"","details":"no_session"}`},
		{`{"type":"subscribe","agentRuntimeId":"gone"}`, `{"type":"error","code":"AGENT_RUNTIME_SUBSCRIBE_FAILED","message":"Failed to subscribe to agent runtime gone: no session is called \"gone\"","details":"no_session"}`},
	} {
		h := newServerHarness(t)
		if sent := h.receive(c.frame); len(sent) != 1 || sent[0] != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.frame, sent, c.want)
		}
		if sent := h.receive(`{"type":"send","targetAgentRuntimeId":"s1","payload":"x"}`); sent != nil {
			t.Errorf("after %s: %s", c.frame, sent)
		}
	}
	h := newServerHarness(t)
	h.handleOutput(h.codec.Foreign(start, codec.Frame{Data: []byte(`{}`), Binary: true}))
	if sent := h.flush(); len(sent) != 1 || !strings.Contains(sent[0], `"PARSE_ERROR"`) {
		t.Errorf("a binary frame is answered with %s", sent)
	}
}

// EA-12, EA-15
func TestARefusedSendHasTheCodeOfItsReason(t *testing.T) {
	for native, want := range map[protocol.Code]errorCode{
		protocol.CodeSessionClosed: sendFailed, protocol.CodeAgentFailed: sendFailed,
		protocol.CodeForbidden:    unauthorized,
		protocol.CodeUnauthorized: unauthorized, protocol.CodeInvalidMessage: validationError,
		protocol.CodeInternal: internalServerError,
	} {
		h := newServerHarness(t)
		h.errors[protocol.DoSend] = protocol.Errorf(native, "not so")
		sent := h.receive(`{"type":"send","targetAgentRuntimeId":"s1","payload":"x"}`)
		if len(sent) != 1 || !strings.Contains(sent[0], `"code":"`+string(want)+`"`) ||
			!strings.Contains(sent[0], "for s1: not so") {
			t.Errorf("%s became %s", native, sent)
		}
	}
}

// EA-18: the client is notified when its subscription ended, and can subscribe again.
func TestABrokenFeedCanBeStartedAgain(t *testing.T) {
	h := newServerHarness(t)
	h.receive(`{"type":"subscribe","agentRuntimeId":"s1"}`)
	gone := protocol.Event{
		Session: "s1", Type: protocol.ClientDetached, Time: start,
		Data: protocol.MustEncode(protocol.Client{Client: "c1", Reason: "internal"}),
	}
	h.handleOutput(h.codec.Native(start, gone.AppendJSON(nil)))
	if sent := h.flush(); len(sent) != 1 || !strings.Contains(sent[0], "agent runtime s1") {
		t.Fatalf("got %s", sent)
	}
	h.receive(`{"type":"subscribe","agentRuntimeId":"s1"}`)
	if sent := h.publish("s1", protocol.Notice, "", protocol.NoticeData{Message: "x"}); len(sent) != 1 {
		t.Errorf("after subscribing again: %s", sent)
	}
}

// EA-15: a session that cannot be subscribed gets the error of an unknown one, and may be
// subscribed again.
func TestASubscriptionThatCannotStartIsTold(t *testing.T) {
	h := newServerHarness(t)
	h.errors[protocol.DoSubscribe] = protocol.Errorf(protocol.CodeTooMany, "too many")
	sent := h.receive(`{"type":"subscribe","agentRuntimeId":"s1"}`)
	if len(sent) != 1 || !strings.Contains(sent[0], `"code":"AGENT_RUNTIME_SUBSCRIBE_FAILED"`) ||
		!strings.Contains(sent[0], `"details":"too_many"`) {
		t.Fatalf("got %s", sent)
	}
	delete(h.errors, protocol.DoSubscribe)
	h.receive(`{"type":"subscribe","agentRuntimeId":"s1"}`)
	if sent := h.publish("s1", protocol.Notice, "", protocol.NoticeData{Message: "x"}); len(sent) != 1 {
		t.Errorf("after subscribing again: %s", sent)
	}
}

// Subscriptions of a connection are bounded.
func TestTooManyRuntimesAreRefused(t *testing.T) {
	h := newServerHarness(t)
	for i := range maxRuntimes + 1 {
		id := fmt.Sprintf("r%d", i)
		h.states[id] = &protocol.State{Session: id}
		sent := h.receive(`{"type":"subscribe","agentRuntimeId":"` + id + `"}`)
		if refused := len(sent) > 0; refused != (i == maxRuntimes) {
			t.Fatalf("%d: %s", i, sent)
		}
	}
	silent := newServer(codec.ServerOptions{ID: ids()})
	silent.Open(start)
	asked := 0
	for range 2 * maxWaiting {
		asked += len(silent.Foreign(start,
			codec.Frame{Data: []byte(`{"type":"send","targetAgentRuntimeId":"s1","payload":"x"}`)}).Native)
	}
	if asked > maxWaiting {
		t.Errorf("%d commands are pending", asked)
	}
}

// A note carries the parts of a command that a payload cannot, for agentctl's client.
func TestANoteCarriesACommand(t *testing.T) {
	h := newServerHarness(t)
	for frame, want := range map[string]string{
		`{"payload":{"turn":"t1","queue":"hold"},"metadata":{"agentctl":{"command":"interrupt","key":"k1"}}}`: `interrupt k1 {"turn":"t1","queue":"hold"}`,
		`{"payload":{"request":"a1","decision":"deny"},"metadata":{"agentctl":{"command":"approve"}}}`:        `approve  {"request":"a1","decision":"deny"}`,
		`{"payload":"hi","metadata":{"agentctl":{"command":"send","key":"k2"}}}`:                              `send k2 {"text":"hi"}`,
		`{"payload":{"text":"","parts":[{"type":"file"}]},"metadata":{"agentctl":{"command":"send"}}}`:        `send  {"text":"","parts":[{"type":"file"}]}`,
		`{"payload":{"reason":"x"},"metadata":{"agentctl":{"command":"close"}}}`:                              `send  {"text":"{\"reason\":\"x\"}"}`,
		`{"payload":"hi","metadata":{"agentctl":{"key":"` + strings.Repeat("k", 200) +
			`"}}}`: `send  {"text":"hi"}`,
		`{"payload":"hi","metadata":{"agentctl":{"command":"interrupt"}}}`: `send  {"text":"hi"}`,
	} {
		h.receive(`{"type":"send","targetAgentRuntimeId":"s1","payload":` + frame + `}`)
		c := h.commands[len(h.commands)-1]
		if got := fmt.Sprintf("%s %s %s", c.Command, c.Key, c.Data); got != want {
			t.Errorf("%s became %s, want %s", frame, got, want)
		}
	}
}
