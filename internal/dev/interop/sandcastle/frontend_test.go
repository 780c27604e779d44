//go:build interop

package sandcastle

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/interop/interoptest"
	"agentctl/protocol"
)

// A frontend is the third-party frontend on agentctl's server, with a native client for comparison.
type frontend struct {
	*nodeProcess
	server *testServer
	native *follower
}

func newFrontend(t *testing.T) *frontend {
	t.Helper()
	server := newTestServer(t)
	return &frontend{
		newNodeProcess(t, "frontend.mjs", "ws://"+server.addr+"/ws", "http://"+server.addr),
		server,
		follow(t, server.nativeClient(), server.session),
	}
}

// A chatState is the content of a chat.
type chatState struct {
	Status   string
	Messages []uiMessage
	Finished []string
	Errors   []string
	Data     int
	Queue    []message
	Session  string
	Text     string
	Tools    map[string]string
	Count    int
}

// A uiMessage is a message of the hook or of the history endpoint.
type uiMessage struct {
	ID       string          `json:"id"`
	Role     string          `json:"role"`
	Parts    []uiPart        `json:"parts"`
	Metadata json.RawMessage `json:"metadata,omitempty"` // end of the turn
}

// A uiPart is the visible content of a message part.
type uiPart struct {
	Type       string          `json:"type"`
	Text       string          `json:"text,omitempty"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	ToolName   string          `json:"toolName,omitempty"`
	Title      string          `json:"title,omitempty"`
	State      string          `json:"state,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Output     json.RawMessage `json:"output,omitempty"`
	ErrorText  string          `json:"errorText,omitempty"`
}

// subscribe opens a chat that loads the history and follows the session.
func (f *frontend) subscribe(chat string) {
	f.t.Helper()
	f.run("chat", args{"chat": chat, "session": "abc"})
	f.run("load", args{"chat": chat})
	f.run("follow", args{"chat": chat})
	f.waitFor("following", func() bool { return f.state(chat).Session != "" })
}

// state returns the last report of a chat.
func (f *frontend) state(chat string) (s chatState) {
	_ = json.Unmarshal(f.reports[chat], &s)
	return s
}

// messages returns the full content of a chat.
func (f *frontend) messages(chat string) (s chatState) {
	f.t.Helper()
	interoptest.Must(f.t, json.Unmarshal([]byte(f.run("messages", args{"chat": chat})), &s))
	return s
}

// expected returns the session's turns as messages: per turn the user's message and the answer.
func (f *frontend) expected() []uiMessage {
	list := []uiMessage{}
	for _, turn := range f.native.Transcript.Turns {
		list = append(
			list,
			uiMessage{
				ID: turn.Message.MessageID, Role: "user", Parts: []uiPart{{Type: "text", Text: turn.Message.Text}},
			},
		)
		answer := uiMessage{
			ID: turn.Turn, Role: "assistant", Metadata: protocol.MustEncode(map[string]any{"agentctl": turn.End}),
		}
		for _, it := range turn.Items {
			switch it.Kind {
			case protocol.ItemText, protocol.ItemReasoning:
				answer.Parts = append(answer.Parts, uiPart{Type: string(it.Kind), Text: it.Text.String()})
			case protocol.ItemTool:
				answer.Parts = append(answer.Parts, toolPart(it))
			}
		}
		list = append(list, answer)
	}
	return list
}

func toolPart(it *protocol.Item) uiPart {
	p := uiPart{
		Type:       "dynamic-tool",
		ToolCallID: it.ID,
		ToolName:   it.Tool.Name,
		Title:      it.Tool.Title,
		Input:      it.Tool.Input,
		State:      "input-available",
	}
	switch end := it.Tool.End; {
	case end == nil:
	case end.Status == protocol.ToolFailed:
		p.State, p.ErrorText = "output-error", end.Error
	case end.Status == protocol.ToolDenied:
		p.State = "output-denied"
	case end.Output != nil:
		p.State, p.Output = "output-available", end.Output
	case it.Tool.Content != nil:
		p.State, p.Output = "output-available", protocol.MustEncode(map[string]any{"content": it.Tool.Content})
	default:
		p.State, p.Output = "output-available", protocol.MustEncode(it.Text.String())
	}
	return p
}

// checkShown compares shown messages with the session. It ignores UI-only state and the tool calls
// that stand for approvals.
func (f *frontend) checkShown(what string, got []uiMessage) {
	f.t.Helper()
	got, want := slices.Clone(got), f.expected()
	for i := range got {
		if i < len(want) && got[i].Metadata == nil &&
			f.native.Transcript.Turns[i/2].End.Reason != protocol.ReasonCompleted {
			want[i].Metadata = nil // the hook stops listening after an error and after stop
		}
		parts := []uiPart{}
		for _, p := range got[i].Parts {
			if p.Type != "dynamic-tool" {
				p.State = ""
			}
			if p.ToolCallID == "" || p.ToolName != "command" && !strings.HasSuffix(p.ToolName, "__AskUserQuestion") {
				parts = append(parts, p)
			}
		}
		got[i].Parts = parts
	}
	if g, w := indent(got), indent(want); g != w {
		f.t.Errorf("%s: shown\n%s\nwant\n%s", what, g, w)
	}
}

func indent(v any) string {
	b, _ := json.MarshalIndent(v, "", " ")
	var plain any
	_ = json.Unmarshal(b, &plain) // sort the keys of embedded JSON
	b, _ = json.MarshalIndent(plain, "", " ")
	return string(b)
}

// SC-28, SC-29, SC-36, SC-38, SC-43, SC-44: the hook shows the session's text, reasoning and tools,
// live and from the history.
func TestTheHookShowsTheSession(t *testing.T) {
	f := newFrontend(t)
	f.subscribe("one")
	for n, text := range []string{"rich", "hello", "fail", "rich"} {
		f.run("send", args{"chat": "one", "text": text})
		f.native.WaitFor(
			"ended",
			func() bool { return len(f.native.Transcript.Turns) == n+1 && f.native.Transcript.Turns[n].End != nil },
		)
	}
	one := f.messages("one")
	f.checkShown("the one who sent", one.Messages)
	if want := []string{"stop", "stop", "error", "stop"}; !slices.Equal(one.Finished, want) {
		t.Errorf("turns finished %q, want %q", one.Finished, want)
	}
	if len(one.Errors) != 1 || one.Errors[0] != "it broke" || one.Session != "idle" {
		t.Errorf("%+v", one)
	}
	f.subscribe("two")
	f.checkShown("the history", f.messages("two").Messages)
	if n := f.run("load", args{"chat": "two"}); n != "0" {
		t.Errorf("%s messages after the last", n)
	}
	f.run("resume", args{"chat": "two"}) // no turn to resume
	if two := f.messages("two"); two.Status != "ready" || len(two.Messages) != 8 {
		t.Errorf("%s, %d messages", two.Status, len(two.Messages))
	}
}

// SC-25, SC-36, SC-43: a chat that joins during a turn shows all of it; other users' messages
// appear as they are sent.
func TestTheHookComesBackInMidTurn(t *testing.T) {
	f := newFrontend(t)
	f.subscribe("one")
	f.subscribe("other")
	sent := f.begin("send", args{"chat": "one", "text": "gated"})
	for _, chat := range []string{"one", "other"} {
		f.waitFor("showing text", func() bool { return f.state(chat).Text == "one two three " })
	}
	f.subscribe("late")
	resumed := f.begin("resume", args{"chat": "late"})
	f.waitFor("showing text", func() bool { return f.state("late").Text == "one two three " })
	f.server.openGate()
	f.wait(sent)
	f.wait(resumed)
	f.native.WaitFor("ended", f.native.ended("gated"))
	f.waitFor("showing text", func() bool { return len(f.state("other").Finished) == 1 })
	for _, chat := range []string{"one", "other"} {
		f.checkShown(chat, f.messages(chat).Messages)
	}
	// The current turn is not in the history: the late chat has only its answer.
	f.native.Transcript.Turns[0].Message.MessageID = ""
	if late := f.messages("late"); len(late.Messages) != 1 ||
		indent(late.Messages[0].Parts[0].Text) != `"one two three "` {
		t.Errorf("the late chat shows %+v", late.Messages)
	}
}

// SC-17, SC-19, SC-30, SC-43: a queued message is answered by its own turn only.
func TestTheHookWaitsForTheTurnOfItsMessage(t *testing.T) {
	f := newFrontend(t)
	f.subscribe("one")
	f.subscribe("two")
	first := f.begin("send", args{"chat": "one", "text": "gated"})
	f.waitFor("showing text", func() bool { return f.state("two").Text == "one two three " })
	f.run("chat", args{"chat": "three", "session": "abc"})
	second := f.begin("send", args{"chat": "three", "text": "hello"})
	f.waitFor("queued", func() bool { q := f.state("one").Queue; return len(q) == 1 && q[0].Content == "hello" })
	f.server.openGate()
	f.wait(first)
	f.wait(second)
	three := f.messages("three")
	if len(three.Messages) != 2 || three.Messages[1].Parts[len(three.Messages[1].Parts)-1].Text != "Hello yourself." ||
		!slices.Equal(three.Finished, []string{"stop"}) {
		t.Errorf("%+v", three)
	}
	f.waitFor("at an empty queue", func() bool { return len(f.state("one").Queue) == 0 })
}

// SC-34, SC-43: "stop" interrupts the session; partial output stays.
func TestTheHookStopsATurn(t *testing.T) {
	f := newFrontend(t)
	f.subscribe("one")
	sent := f.begin("send", args{"chat": "one", "text": "hang"})
	f.waitFor("showing text", func() bool { return f.state("one").Text == "working" })
	f.run("stop", args{"chat": "one"})
	f.wait(sent)
	f.native.WaitFor("ended", f.native.ended("hang"))
	if end := f.native.turn("hang").End; end.Reason != protocol.ReasonInterrupted {
		t.Errorf("the turn ended %+v", end)
	}
	f.checkShown("one", f.messages("one").Messages)
	f.run("send", args{"chat": "one", "text": "hello"})
	f.native.WaitFor("ended", f.native.ended("hello"))
	f.checkShown("one, afterwards", f.messages("one").Messages)
}

// SC-49: a pending approval is shown, also to a late chat; after the decision the turn continues.
func TestTheHookDecides(t *testing.T) {
	f := newFrontend(t)
	f.subscribe("one")
	for n, approved := range []bool{true, false} {
		sent := f.begin("send", args{"chat": "one", "text": "ask"})
		tool := []string{"r1", "r2"}[n]
		f.waitFor("waiting for approval", func() bool { return f.state("one").Tools[tool] == "approval-requested" })
		late := []string{"yes", "no"}[n]
		f.subscribe(late)
		resumed := f.begin("resume", args{"chat": late})
		f.waitFor("waiting for approval", func() bool { return f.state(late).Tools[tool] == "approval-requested" })
		if got := f.run("approve", args{
			"chat": late, "tool": tool,
			"approved": approved,
		}); got != `{"acknowledged":true}` {
			t.Errorf("decision: %s", got)
		}
		f.wait(sent)
		f.wait(resumed)
		want := map[bool]string{true: "output-available", false: "output-denied"}[approved]
		if got := f.state("one").Tools[tool]; got != want {
			t.Errorf("the tool state is %s, want %s", got, want)
		}
	}
	sent := f.begin("send", args{"chat": "one", "text": "choose"})
	f.waitFor("waiting for approval", func() bool { return f.state("one").Tools["q3"] == "approval-requested" })
	f.run("approve", args{"chat": "one", "tool": "q3", "approved": true, "payload": args{
		"type": "AskUserQuestionPayload", "answers": args{"Which branch?": "the main one"},
	}})
	f.wait(sent)
	f.native.WaitFor("ended", f.native.ended("choose"))
	if got := f.native.agentText("ask") + f.native.agentText("choose"); got != "May I?Kept it.Took main." &&
		got != "May I?Kept it.Took branch: main." {
		t.Errorf("agent text %q", got)
	}
	f.checkShown("one", f.messages("one").Messages)
}
