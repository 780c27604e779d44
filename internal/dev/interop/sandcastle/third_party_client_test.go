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

	"agentctl/internal/dev/interop/interoptest"
	"agentctl/protocol"
)

// newThirdPartyClient starts a third-party client with connection "a" to agentctl's server.
func newThirdPartyClient(t *testing.T, server *testServer) *nodeProcess {
	t.Helper()
	n := newNodeProcess(t, "client.mjs", "ws://"+server.addr+"/ws")
	n.connect("a")
	return n
}

// SC-1 to SC-6, SC-8, SC-10 to SC-15, SC-21, SC-35, SC-38, SC-45, SC-47.
func TestAThirdPartyClientUsesTheServer(t *testing.T) {
	server := newTestServer(t)
	n := newThirdPartyClient(t, server)
	for _, tag := range []string{"GetSessionState", "Interrupt"} {
		if got := n.callFails("a", tag, args{"sessionId": "nope"}); got != `"SESSION_NOT_FOUND"` {
			t.Errorf("%s of an unknown session: %s", tag, got)
		}
	}
	interoptest.Contains(
		t, n.callFails("a", "chat.interrupt", args{"sessionId": "nope"}), `"_tag":"ChatSessionNotFoundRpcError"`,
	)
	if s := n.subscribe("a", "nothing", "nope"); s.end != "SESSION_NOT_FOUND" {
		t.Errorf("a stream of an unknown session ends with %s", s.end)
	}
	idle := `{"status":"idle","activeTurnId":null,"queue":[],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}}`
	if got := n.call("a", "GetSessionState", args{"sessionId": "abc"}); got != idle {
		t.Errorf("the state is %s", got)
	}
	if got := n.call("a", "Interrupt", args{"sessionId": "abc"}); got != `{"interrupted":false}` {
		t.Errorf("an interrupt without a turn: %s", got)
	}
	s := n.subscribe("a", "first", "abc")
	interoptest.Contains(t, n.call("a", "SendMessage", args{
		"sessionId": "abc", "content": "hello", "parts": []any{map[string]string{
			"type": "text",
			"text": "hello",
		}}, "clientMessageId": "temp_1",
	}), `{"status":"started","messageId":"m_`)
	n.waitFor("stopped", s.has("SessionStopped", 1))
	want := "InitialState UserMessage SessionStarted start reasoning-start reasoning-end tool-input-start tool-input-available " +
		"tool-output-available text-start text-end finishstop SessionStoppedcompleted"
	if got := s.summary(); got != want {
		t.Errorf("the stream was\n%s\nwant\n%s", got, want)
	}
	if s.events[1].Message.ClientMessageID != "temp_1" || s.text() != "Hello yourself." {
		t.Errorf("%+v, %q", s.events[1].Message, s.text())
	}
}

// SC-17, SC-25, SC-30 to SC-35, SC-4: two users on two connections during a turn.
func TestTwoThirdPartyClientsShareASession(t *testing.T) {
	server := newTestServer(t)
	n := newThirdPartyClient(t, server)
	n.connect("b")
	one, two := n.subscribe("a", "one", "abc"), n.subscribe("b", "two", "abc")
	n.sendMessage("a", "abc", "gated", "temp_1")
	n.waitFor("at the gate", two.hasText("three "))
	late := n.subscribe("b", "late", "abc") // during the turn
	if f := late.first(); f.Snapshot.Status != "streaming" || f.TurnContext.Content != "gated" ||
		late.text() != "one two three " ||
		f.Buffer[0].Type != "start" {
		t.Errorf("the late joiner sees %+v: %q", f, late.text())
	}
	interoptest.Contains(t, n.sendMessage("b", "abc", "hang", "temp_2"), `{"status":"queued","queuedMessage":{"id":"m_`)
	var queued struct{ QueuedMessage message }
	interoptest.Must(t, json.Unmarshal([]byte(n.sendMessage("b", "abc", "more", "temp_3")), &queued))
	n.waitFor("queued", one.has("MessageQueued", 2))
	payload := args{"sessionId": "abc", "messageId": queued.QueuedMessage.ID}
	if got := n.call("a", "DequeueMessage", payload); got != `{"removed":true}` {
		t.Errorf("removed by the other client: %s", got)
	}
	if got := n.call("b", "DequeueMessage", payload); got != `{"removed":false}` {
		t.Errorf("removed twice: %s", got)
	}
	server.openGate()
	for _, s := range []*stream{one, two, late} {
		n.waitFor("working", s.hasText("working"))
	}
	if got := n.call("b", "Interrupt", args{"sessionId": "abc"}); got != `{"interrupted":true}` {
		t.Errorf("an interrupt by the other client: %s", got)
	}
	for _, s := range []*stream{one, two, late} {
		n.waitFor("stopped", s.has("SessionStopped", 2))
	}
	want := "MessageQueued MessageDequeued text-start text-end finishstop SessionStoppedcompleted MessageDequeued UserMessage SessionStarted start " +
		"text-start text-end finishother SessionStoppedinterrupted"
	for name, s := range map[string]*stream{"one": one, "two": two, "late": late} {
		if !strings.HasSuffix(s.summary(), want) || s.text() != "one two three four five sixworking" {
			t.Errorf("%s saw\n%s, %q\nwant\n%s", name, s.summary(), s.text(), want)
		}
	}
	if one.summary() != two.summary() {
		t.Errorf("one saw\n%s\ntwo\n%s", one.summary(), two.summary())
	}
}

// SC-40, SC-41: streams are independent, and closing them interrupts nothing.
func TestASessionIsStreamedTwiceOnOneConnection(t *testing.T) {
	server := newTestServer(t)
	n := newThirdPartyClient(t, server)
	one, two := n.subscribe("a", "one", "abc"), n.subscribe("a", "two", "abc")
	n.sendMessage("a", "abc", "gated", "temp_1")
	n.waitFor("at the gate", one.hasText("three "))
	n.waitFor("at the gate", two.hasText("three "))
	n.run("unsubscribe", args{"stream": "one"})
	n.waitFor("closed", func() bool { return one.end == "interrupted" })
	interoptest.Contains(t, n.call("a", "GetSessionState", args{"sessionId": "abc"}), `"status":"streaming"`)
	native := follow(t, server.nativeClient(), server.session)
	n.run("unsubscribe", args{"stream": "two"})
	n.waitFor("closed", func() bool { return two.end == "interrupted" })
	again := n.subscribe("a", "again", "abc")
	n.run("unsubscribe", args{"stream": "again"})
	server.openGate()
	native.WaitFor("ended", native.ended("gated"))
	if native.agentText("gated") != "one two three four five six" ||
		native.turn("gated").End.Reason != protocol.ReasonCompleted ||
		again.text() != "one two three " {
		t.Errorf("without streams the turn ended %+v: %q", native.turn("gated").End, native.agentText("gated"))
	}
	after := n.subscribe("a", "after", "abc")
	n.sendMessage("a", "abc", "hello", "temp_2")
	n.waitFor("stopped", after.has("SessionStopped", 1))
	if len(one.events) >= len(after.events)+3 || strings.Contains(one.text()+two.text(), "four") {
		t.Errorf("a closed stream continued: %s", n.dump())
	}
}

// SC-27, SC-46: an unacknowledged stream gets one chunk, and after its Ack one with everything
// since. Other streams do not wait.
func TestAPausedStreamLosesNothingAndDelaysNoOther(t *testing.T) {
	server := newTestServer(t)
	n := newThirdPartyClient(t, server)
	slow := n.subscribe("a", "slow", "abc")
	quick := n.subscribe("a", "quick", "abc")
	n.run("pause", args{"stream": "slow"})
	native := follow(t, server.nativeClient(), server.session)
	n.sendMessage("a", "abc", "much", "temp_1")
	n.waitFor("stopped", quick.has("SessionStopped", 1))
	if slow.text() != "" {
		t.Fatalf("the paused stream got %d bytes", len(slow.text()))
	}
	interoptest.Contains(t, n.call("a", "GetSessionState", args{"sessionId": "abc"}), `"status":"idle"`)
	native.WaitFor("ended", native.ended("much"))
	n.run("resume", args{"stream": "slow"})
	n.waitFor("stopped", slow.has("SessionStopped", 1))
	want := native.agentText("much")
	if len(want) < 4000*400 || quick.text() != want || slow.text() != want {
		t.Errorf("got %d and %d bytes, want %d", len(quick.text()), len(slow.text()), len(want))
	}
	var seen struct{ Chunks, Unacknowledged int }
	interoptest.Must(t, json.Unmarshal([]byte(n.run("stats", args{"connection": "a"})), &seen))
	events := len(slow.events) + len(quick.events)
	if seen.Unacknowledged != 1 || seen.Chunks >= events {
		t.Errorf("%d chunks for %d events, up to %d without an Ack", seen.Chunks, events, seen.Unacknowledged)
	}
	t.Logf("%d chunks for %d events", seen.Chunks, events)
}

// SC-48: an invalid request fails alone.
func TestAWrongRequestHurtsNoOther(t *testing.T) {
	server := newTestServer(t)
	n := newThirdPartyClient(t, server)
	s := n.subscribe("a", "one", "abc")
	n.sendMessage("a", "abc", "gated", "temp_1")
	n.waitFor("at the gate", s.hasText("three "))
	interoptest.Contains(t, n.callFails("a", "chat.unheardOf", nil), "Unknown request tag: chat.unheardOf")
	interoptest.Contains(t, n.callFails("a", "chat.getState", args{"sessionId": 7}), "malformed")
	server.openGate()
	n.waitFor("stopped", s.has("SessionStopped", 1))
	if s.text() != "one two three four five six" || s.end != "" {
		t.Errorf("the stream: %q, %s", s.text(), s.end)
	}
}

// SC-5, SC-23 to SC-25, SC-28, SC-29, SC-49: the first event of a late joiner has the current turn,
// the queue, the end of the history, and pending approvals.
func TestTheFirstEventHasTheWholeState(t *testing.T) {
	server := newTestServer(t)
	n := newThirdPartyClient(t, server)
	one := n.subscribe("a", "one", "abc")
	n.sendMessage("a", "abc", "hello", "temp_1")
	n.waitFor("stopped", one.has("SessionStopped", 1))
	n.sendMessage("a", "abc", "ask", "temp_2")
	n.waitFor("waiting for approval", one.has("StreamEvent", 1))
	n.waitFor("waiting for approval", func() bool {
		return slices.ContainsFunc(
			one.events, func(e *streamEvent) bool { return e.Event.Type == "tool-approval-request" },
		)
	})
	n.sendMessage("a", "abc", "choose", "temp_3")
	n.connect("b")
	two := n.subscribe("b", "two", "abc")
	f := two.first()
	var list []struct{ ID, Role string }
	interoptest.Must(t, json.Unmarshal(fetch(t, "http://"+server.addr+"/api/sessions/abc/messages"), &list))
	if len(list) != 2 || list[1].Role != "assistant" || f.Snapshot.HistoryCursor.LastMessageID == nil ||
		*f.Snapshot.HistoryCursor.LastMessageID != list[1].ID {
		t.Errorf("history %+v, cursor %+v", list, f.Snapshot.HistoryCursor)
	}
	if len(f.Snapshot.Queue) != 1 || f.Snapshot.Queue[0].Content != "choose" ||
		f.Snapshot.Queue[0].ClientMessageID != "temp_3" ||
		len(f.PendingApprovals) != 1 ||
		f.PendingApprovals[0].ToolCallID != "r2" ||
		two.text() != "May I?" {
		t.Errorf("%+v, %q", f, two.text())
	}
	interoptest.Contains(t, n.call("b", "chat.getHistory", args{"sessionId": "abc"}), `"text":"ask"`) // under way
	decide := func(response args) {
		t.Helper()
		response["type"] = "tool-approval-response"
		payload := args{"sessionId": "abc", "response": response}
		if got := n.call("b", "chat.respondToToolApproval", payload); got != `{"acknowledged":true}` {
			t.Errorf("%+v: %s", payload, got)
		}
	}
	decide(args{"toolCallId": "r2", "toolName": "command", "approved": false})
	late := args{"type": "tool-approval-response", "toolCallId": "r2", "toolName": "command", "approved": true}
	interoptest.Contains(t, n.callFails("a", "chat.respondToToolApproval", args{
		"sessionId": "abc", "response": late,
	}), "ToolApprovalNotFoundRpcError")
	n.waitFor("waiting for the second approval", func() bool {
		return slices.ContainsFunc(two.events, func(e *streamEvent) bool {
			return e.Event.ToolCallID == "q3" && e.Event.Type == "tool-approval-request"
		})
	})
	decide(args{"toolCallId": "q3", "toolName": "AskUserQuestion", "approved": true, "payload": args{
		"type": "AskUserQuestionPayload", "answers": args{"Which branch?": "the main one"},
	}})
	n.waitFor("stopped", two.has("SessionStopped", 2))
	if got := two.text(); !strings.HasPrefix(got, "May I?Kept it.Took ") || !strings.Contains(got, "main") {
		t.Errorf("agent text %q", got)
	}
	var newer []struct{ Role string }
	interoptest.Must(
		t, json.Unmarshal(fetch(t, "http://"+server.addr+"/api/sessions/abc/messages?after="+list[1].ID), &newer),
	)
	if len(newer) != 4 {
		t.Errorf("messages after the first turn: %+v", newer)
	}
}

// A frame that the schema rejects would end the client's one connection for good.
func TestATitleBetweenTurnsKeepsTheConnection(t *testing.T) {
	server := newTestServer(t)
	n := newThirdPartyClient(t, server)
	one := n.subscribe("a", "one", "abc")
	title := "Tidy up"
	interoptest.Call[protocol.Empty](
		t, server.nativeClient(), protocol.DoRename, server.session, protocol.RenameData{Title: &title},
	)
	n.waitFor("renamed", one.has("StreamEvent", 1))
	n.sendMessage("a", "abc", "hello", "temp_1")
	n.waitFor("stopped", one.has("SessionStopped", 1))
}

// readFile reads a file.
func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	interoptest.Must(t, err)
	return string(b)
}

// fetch reads a URL.
func fetch(t *testing.T, url string) []byte {
	t.Helper()
	r, err := http.Get(url) //nolint:noctx // a test's own server
	interoptest.Must(t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	interoptest.Must(t, err)
	return b
}
