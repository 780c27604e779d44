//go:build interop

package sandcastle

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
)

// theirs is a client of theirs with a connection "a" to a server of ours.
func theirs(t *testing.T, w *world) *node {
	t.Helper()
	n := newNode(t, "client.mjs", "ws://"+w.addr+"/ws")
	n.link("a")
	return n
}

func contains(t *testing.T, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("got %s, want %s in it", got, want)
	}
}

// SC-1 to SC-6, SC-8, SC-10 to SC-15, SC-21, SC-35, SC-38, SC-45, SC-47.
func TestAClientOfTheirsUsesAServerOfOurs(t *testing.T) {
	w := newWorld(t)
	n := theirs(t, w)
	for _, tag := range []string{"GetSessionState", "Interrupt"} {
		if got := n.fails("a", tag, args{"sessionId": "nope"}); got != `"SESSION_NOT_FOUND"` {
			t.Errorf("%s of nothing: %s", tag, got)
		}
	}
	contains(t, n.fails("a", "chat.interrupt", args{"sessionId": "nope"}), `"_tag":"ChatSessionNotFoundRpcError"`)
	if s := n.opens("a", "nothing", "nope"); s.end != "SESSION_NOT_FOUND" {
		t.Errorf("a stream of nothing ends with %s", s.end)
	}
	idle := `{"status":"idle","activeTurnId":null,"queue":[],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}}`
	if got := n.call("a", "GetSessionState", args{"sessionId": "abc"}); got != idle {
		t.Errorf("the state is %s", got)
	}
	if got := n.call("a", "Interrupt", args{"sessionId": "abc"}); got != `{"interrupted":false}` {
		t.Errorf("an interrupt of nothing: %s", got)
	}
	s := n.opens("a", "first", "abc")
	contains(t, n.call("a", "SendMessage", args{
		"sessionId": "abc", "content": "hello", "parts": []any{map[string]string{"type": "text", "text": "hello"}}, "clientMessageId": "temp_1",
	}), `{"status":"started","messageId":"m_`)
	n.until("stopped", s.has("SessionStopped", 1))
	want := "InitialState UserMessage SessionStarted start reasoning-start reasoning-end tool-input-start tool-input-available " +
		"tool-output-available text-start text-end finishstop SessionStoppedcompleted"
	if got := s.words(); got != want {
		t.Errorf("their stream was\n%s\nwant\n%s", got, want)
	}
	if s.events[1].Message.ClientMessageID != "temp_1" || s.text() != "Hello yourself." {
		t.Errorf("%+v, %q", s.events[1].Message, s.text())
	}
}

// SC-17, SC-25, SC-30 to SC-35, SC-4: two people on two connections, in mid-turn.
func TestTwoClientsOfTheirsShareASession(t *testing.T) {
	w := newWorld(t)
	n := theirs(t, w)
	n.link("b")
	one, two := n.opens("a", "one", "abc"), n.opens("b", "two", "abc")
	n.sends("a", "abc", "gated", "temp_1")
	n.until("said", two.says("three "))
	late := n.opens("b", "late", "abc") // in mid-turn
	if f := late.first(); f.Snapshot.Status != "streaming" || f.TurnContext.Content != "gated" || late.text() != "one two three " || f.Buffer[0].Type != "start" {
		t.Errorf("who comes late sees %+v: %q", f, late.text())
	}
	contains(t, n.sends("b", "abc", "hang", "temp_2"), `{"status":"queued","queuedMessage":{"id":"m_`)
	var queued struct{ QueuedMessage message }
	must(t, json.Unmarshal([]byte(n.sends("b", "abc", "more", "temp_3")), &queued))
	n.until("queued", one.has("MessageQueued", 2))
	payload := args{"sessionId": "abc", "messageId": queued.QueuedMessage.ID}
	if got := n.call("a", "DequeueMessage", payload); got != `{"removed":true}` {
		t.Errorf("the other takes it out: %s", got)
	}
	if got := n.call("b", "DequeueMessage", payload); got != `{"removed":false}` {
		t.Errorf("twice: %s", got)
	}
	w.open()
	for _, s := range []*stream{one, two, late} {
		n.until("working", s.says("working"))
	}
	if got := n.call("b", "Interrupt", args{"sessionId": "abc"}); got != `{"interrupted":true}` {
		t.Errorf("an interrupt by the other: %s", got)
	}
	for _, s := range []*stream{one, two, late} {
		n.until("stopped", s.has("SessionStopped", 2))
	}
	want := "MessageQueued MessageDequeued text-start text-end finishstop SessionStoppedcompleted MessageDequeued UserMessage SessionStarted start " +
		"text-start text-end finishother SessionStoppedinterrupted"
	for name, s := range map[string]*stream{"one": one, "two": two, "late": late} {
		if !strings.HasSuffix(s.words(), want) || s.text() != "one two three four five sixworking" {
			t.Errorf("%s saw\n%s, %q\nwant\n%s", name, s.words(), s.text(), want)
		}
	}
	if one.words() != two.words() {
		t.Errorf("one saw\n%s\ntwo\n%s", one.words(), two.words())
	}
}

// SC-40, SC-41: streams are independent, and leaving them interrupts nothing.
func TestASessionIsStreamedTwiceOnOneConnection(t *testing.T) {
	w := newWorld(t)
	n := theirs(t, w)
	one, two := n.opens("a", "one", "abc"), n.opens("a", "two", "abc")
	n.sends("a", "abc", "gated", "temp_1")
	n.until("said", one.says("three "))
	n.until("said", two.says("three "))
	n.does("close", args{"stream": "one"})
	n.until("left", func() bool { return one.end == "interrupted" })
	contains(t, n.call("a", "GetSessionState", args{"sessionId": "abc"}), `"status":"streaming"`)
	native := sit(t, w.native(), w.session)
	n.does("close", args{"stream": "two"})
	n.until("left", func() bool { return two.end == "interrupted" })
	again := n.opens("a", "again", "abc")
	n.does("close", args{"stream": "again"})
	w.open()
	native.until("over", native.ended("gated"))
	if native.said("gated") != "one two three four five six" || native.turn("gated").End.Reason != protocol.ReasonCompleted || again.text() != "one two three " {
		t.Errorf("nobody watched, and the turn ended %+v: %q", native.turn("gated").End, native.said("gated"))
	}
	after := n.opens("a", "after", "abc")
	n.sends("a", "abc", "hello", "temp_2")
	n.until("stopped", after.has("SessionStopped", 1))
	if len(one.events) >= len(after.events)+3 || strings.Contains(one.text()+two.text(), "four") {
		t.Errorf("a stream that was left goes on: %s", n.seen())
	}
}

// SC-27, SC-46: one chunk until its Ack, which holds all that happened meanwhile; others do not wait.
func TestAStreamThatTakesNothingLosesNothingAndHoldsNobodyUp(t *testing.T) {
	w := newWorld(t)
	n := theirs(t, w)
	slow := n.opens("a", "slow", "abc")
	quick := n.opens("a", "quick", "abc")
	n.does("hold", args{"stream": "slow"})
	native := sit(t, w.native(), w.session)
	n.sends("a", "abc", "much", "temp_1")
	n.until("stopped", quick.has("SessionStopped", 1))
	if slow.text() != "" {
		t.Fatalf("the slow one took %d bytes", len(slow.text()))
	}
	contains(t, n.call("a", "GetSessionState", args{"sessionId": "abc"}), `"status":"idle"`)
	native.until("over", native.ended("much"))
	n.does("go", args{"stream": "slow"})
	n.until("stopped", slow.has("SessionStopped", 1))
	want := native.said("much")
	if len(want) < 4000*400 || quick.text() != want || slow.text() != want {
		t.Errorf("%d and %d bytes came, want %d", len(quick.text()), len(slow.text()), len(want))
	}
	var seen struct{ Chunks, Unacknowledged int }
	must(t, json.Unmarshal([]byte(n.does("seen", args{"link": "a"})), &seen))
	events := len(slow.events) + len(quick.events)
	if seen.Unacknowledged != 1 || seen.Chunks >= events {
		t.Errorf("%d chunks for %d events, up to %d without an Ack", seen.Chunks, events, seen.Unacknowledged)
	}
	t.Logf("%d chunks for %d events", seen.Chunks, events)
}

// SC-48: what is wrong with a request ends that request alone.
func TestAWrongRequestHurtsNoOther(t *testing.T) {
	w := newWorld(t)
	n := theirs(t, w)
	s := n.opens("a", "one", "abc")
	n.sends("a", "abc", "gated", "temp_1")
	n.until("said", s.says("three "))
	contains(t, n.fails("a", "chat.unheardOf", nil), "Unknown request tag: chat.unheardOf")
	contains(t, n.fails("a", "chat.getState", args{"sessionId": 7}), "malformed")
	w.open()
	n.until("stopped", s.has("SessionStopped", 1))
	if s.text() != "one two three four five six" || s.end != "" {
		t.Errorf("the stream beside it: %q, %s", s.text(), s.end)
	}
}

// SC-5, SC-23 to SC-25, SC-28, SC-29, SC-49: one who comes in sees the turn under way, the queue, where history ends, and what
// waits for a decision.
func TestTheFirstEventSaysAllThatIs(t *testing.T) {
	w := newWorld(t)
	n := theirs(t, w)
	one := n.opens("a", "one", "abc")
	n.sends("a", "abc", "hello", "temp_1")
	n.until("stopped", one.has("SessionStopped", 1))
	n.sends("a", "abc", "ask", "temp_2")
	n.until("asked", one.has("StreamEvent", 1))
	n.until("asked", func() bool {
		return slices.ContainsFunc(one.events, func(e *sight) bool { return e.Event.Type == "tool-approval-request" })
	})
	n.sends("a", "abc", "choose", "temp_3")
	n.link("b")
	two := n.opens("b", "two", "abc")
	f := two.first()
	var list []struct{ ID, Role string }
	must(t, json.Unmarshal(fetch(t, "http://"+w.addr+"/api/sessions/abc/messages"), &list))
	if len(list) != 2 || list[1].Role != "assistant" || f.Snapshot.HistoryCursor.LastMessageID == nil || *f.Snapshot.HistoryCursor.LastMessageID != list[1].ID {
		t.Errorf("history %+v, cursor %+v", list, f.Snapshot.HistoryCursor)
	}
	if len(f.Snapshot.Queue) != 1 || f.Snapshot.Queue[0].Content != "choose" || f.Snapshot.Queue[0].ClientMessageID != "temp_3" ||
		len(f.PendingApprovals) != 1 || f.PendingApprovals[0].ToolCallID != "r2" || two.text() != "May I?" {
		t.Errorf("%+v, %q", f, two.text())
	}
	decide := func(payload args) {
		t.Helper()
		payload["type"] = "tool-approval-response"
		if got := n.call("b", "chat.respondToToolApproval", payload); got != `{"acknowledged":true}` {
			t.Errorf("%+v: %s", payload, got)
		}
	}
	decide(args{"toolCallId": "r2", "toolName": "command", "approved": false})
	contains(t, n.fails("a", "chat.respondToToolApproval", args{
		"type": "tool-approval-response", "toolCallId": "r2", "toolName": "command", "approved": true,
	}), "ToolApprovalNotFoundRpcError")
	n.until("asked again", func() bool {
		return slices.ContainsFunc(two.events, func(e *sight) bool { return e.Event.ToolCallID == "q3" && e.Event.Type == "tool-approval-request" })
	})
	decide(args{"toolCallId": "q3", "toolName": "AskUserQuestion", "approved": true, "payload": args{
		"type": "AskUserQuestionPayload", "answers": args{"Which branch?": "the main one"},
	}})
	n.until("stopped", two.has("SessionStopped", 2))
	if got := two.text(); !strings.HasPrefix(got, "May I?Kept it.Took ") || !strings.Contains(got, "main") {
		t.Errorf("the agent said %q", got)
	}
	var newer []struct{ Role string }
	must(t, json.Unmarshal(fetch(t, "http://"+w.addr+"/api/sessions/abc/messages?after="+list[1].ID), &newer))
	if len(newer) != 4 {
		t.Errorf("after the first turn there are %+v", newer)
	}
}

// readFile reads a file.
func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

// fetch reads a URL.
func fetch(t *testing.T, url string) []byte {
	t.Helper()
	r, err := http.Get(url) //nolint:noctx // a test's own server
	must(t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	must(t, err)
	return b
}
