package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
)

// A sandcastleStream is a connection of a Sandcastle client that writes requests by hand and
// follows one session.
type sandcastleStream struct {
	*dialectConn
	last   int
	seen   []string // events in short, without deltas
	events []sandcastleEvent
}

// A sandcastleEvent holds the fields of session events and chat events that the test checks.
type sandcastleEvent struct {
	Tag        string `json:"_tag"`
	Reason     string
	TurnID     *string
	Type       string
	ToolCallID string
	ToolName   string
	Input      json.RawMessage
	Output     any
	ErrorText  string
	Mode       string
	Event      *sandcastleEvent
}

// next reads one frame, acknowledges its events, and returns the exit of a request, if it is one.
func (s *sandcastleStream) next() (id string, exit json.RawMessage) {
	s.t.Helper()
	for line := range strings.Lines(string(s.read())) {
		var f struct {
			Tag       string `json:"_tag"`
			RequestID string
			Values    []sandcastleEvent
			Exit      json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			s.t.Fatalf("%v: %s", err, line)
		}
		switch f.Tag {
		case "Chunk":
			s.mustWrite(fmt.Sprintf(`{"_tag":"Ack","requestId":%q}`, f.RequestID) + "\n")
			for i := range f.Values {
				s.add(&f.Values[i])
			}
		case "Exit":
			id, exit = f.RequestID, f.Exit
		default:
			s.t.Fatalf("frame %s", line)
		}
	}
	return id, exit
}

func (s *sandcastleStream) add(e *sandcastleEvent) {
	s.t.Helper()
	if e.Tag == "StreamEvent" {
		if e.TurnID == nil {
			s.t.Errorf("%+v has no turnId", e.Event)
		}
		e = e.Event
	}
	s.events = append(s.events, *e)
	switch {
	case strings.HasSuffix(e.Type, "-delta"), strings.HasPrefix(e.Type, "data-"), e.Type == "metadata-update",
		strings.HasPrefix(e.Type, "text-"), strings.HasSuffix(e.Type, "-step"):
	case e.Type != "":
		s.seen = append(s.seen, strings.TrimSpace(e.Type+" "+e.ToolName+e.Mode))
	default:
		s.seen = append(s.seen, strings.TrimSpace(e.Tag+" "+e.Reason))
	}
}

// start sends a request and returns its id.
func (s *sandcastleStream) start(tag string, payload any) string {
	s.t.Helper()
	s.last++
	s.mustWrite(fmt.Sprintf(`{"_tag":"Request","id":"%d","tag":%q,"payload":%s,"headers":[]}`,
		s.last, tag, protocol.MustEncode(payload)) + "\n")
	return fmt.Sprint(s.last)
}

// request sends a request and returns its exit.
func (s *sandcastleStream) request(tag string, payload any) string {
	s.t.Helper()
	for want := s.start(tag, payload); ; {
		if id, exit := s.next(); id == want {
			return string(exit)
		}
	}
}

// until reads up to the next event that starts so in short, and returns it.
func (s *sandcastleStream) until(start string) sandcastleEvent {
	s.t.Helper()
	for n := len(s.seen); ; s.next() {
		for ; n < len(s.seen); n++ {
			if strings.HasPrefix(s.seen[n], start) {
				return s.event(start)
			}
		}
	}
}

// event returns the newest event that starts so in short.
func (s *sandcastleStream) event(start string) sandcastleEvent {
	for _, e := range slices.Backward(s.events) {
		if strings.HasPrefix(strings.TrimSpace(e.Type+e.Tag+" "+e.ToolName+e.Mode+e.Reason), start) {
			return e
		}
	}
	return sandcastleEvent{}
}

// respond answers a request for an approval.
func (s *sandcastleStream) respond(session string, e *sandcastleEvent, approved bool, feedback string) {
	s.t.Helper()
	var payload any
	if feedback != "" {
		payload = map[string]string{"type": "ExitPlanModePayload", "feedback": feedback}
	}
	s.answer(session, e, approved, payload)
}

// answer is respond with a payload; nil: without one.
func (s *sandcastleStream) answer(session string, e *sandcastleEvent, approved bool, payload any) {
	s.t.Helper()
	response := map[string]any{
		"type": "tool-approval-response", "toolCallId": e.ToolCallID, "toolName": e.ToolName, "approved": approved,
	}
	if payload != nil {
		response["payload"] = payload
	}
	exit := s.request("chat.respondToToolApproval", map[string]any{"sessionId": session, "response": response})
	if !strings.Contains(exit, `"acknowledged":true`) {
		s.t.Fatalf("answer to %s: %s", e.ToolName, exit)
	}
}

// The agent of a model with a client of Sandcastle. A message in mode plan gives it the policy:
// it changes nothing, asks as ExitPlanMode does, revises the plan after feedback, and asks for
// commands after the approval. A message in mode build gets the policy of before.
func TestASandcastleClientPlansWithTheAgentOfAModel(t *testing.T) {
	plan := func(title string) map[string]any {
		return map[string]any{
			"summary": "in steps", "steps": []any{map[string]string{"title": title, "description": "touch built"}},
		}
	}
	w := newModelServer(t, func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
		done := results(r)
		switch len(done) {
		case 0:
			out.Call("shell", map[string]string{"command": "touch early"})
		case 1:
			out.Call("present_plan", plan("one large step"))
		case 2:
			out.Call("present_plan", plan("a small step"))
		case 3:
			out.Call("shell", map[string]string{"command": "touch built"})
		default:
			out.Text("Feedback was: " + done[1])
		}
	})
	work := t.TempDir()
	ann := w.client("ann")
	id := do[protocol.CreateResult](t, ann, protocol.DoCreate, "", protocol.CreateData{CWD: work}).Session
	s := &sandcastleStream{dialectConn: dialDialect(t, "ws://server/dialect/sandcastle", w.dial)}
	message := map[string]string{
		"sessionId": id, "content": "build it", "clientMessageId": "client-1-a", "mode": "plan",
	}
	s.start("chat.subscribe", map[string]string{"sessionId": id})
	s.until("InitialState")
	if exit := s.request("chat.send", message); !strings.Contains(exit, `"started"`) {
		t.Fatal(exit)
	}
	first := s.until("tool-approval-request ExitPlanMode")
	call := s.event("tool-input-available mcp__plan-mode-ui__ExitPlanMode")
	var input struct{ Plan string }
	if err := json.Unmarshal(call.Input, &input); err != nil || call.ToolCallID != first.ToolCallID ||
		!strings.Contains(input.Plan, "one large step") {
		t.Errorf("call %+v of request %+v: %v", call, first, err)
	}
	s.respond(id, &first, false, "smaller steps")
	second := s.until("tool-approval-request ExitPlanMode")
	if second.ToolCallID == first.ToolCallID {
		t.Error("the second plan is the first call")
	}
	s.respond(id, &second, true, "")
	command := s.until("tool-approval-request shell")
	for _, name := range []string{"early", "built"} {
		if _, err := os.Stat(filepath.Join(work, name)); !os.IsNotExist(err) {
			t.Errorf("%s before the approval: %v", name, err)
		}
	}
	s.respond(id, &command, true, "")
	s.until("SessionStopped")
	if _, err := os.Stat(filepath.Join(work, "built")); err != nil {
		t.Error(err)
	}
	if got := strings.Join(texts(t, w, id), ""); !strings.Contains(got, "smaller steps") {
		t.Errorf("the model got %q", got)
	}
	seen := s.seen
	do[protocol.Empty](t, ann, protocol.DoConfigure, id, protocol.ConfigureData{
		Setting: protocol.PolicySetting, Value: "auto-edit",
	})
	for i, mode := range []string{"plan", "build"} {
		message["mode"], message["clientMessageId"] = mode, fmt.Sprintf("client-2-%d", i)
		if exit := s.request("chat.send", message); !strings.Contains(exit, `"started"`) {
			t.Fatal(exit)
		}
		s.until("SessionStopped")
		want := []string{"plan", "auto-edit"}[i]
		st := do[protocol.SnapshotResult](t, ann, protocol.DoSnapshot, id, nil).Snapshot.State
		if got := st.Policy(); got != want {
			t.Errorf("in mode %s: policy %s, want %s", mode, got, want)
		}
	}
	ask := []string{
		"tool-input-start present_plan", "tool-input-available present_plan",
		"tool-input-available mcp__plan-mode-ui__ExitPlanMode", "tool-approval-request ExitPlanMode",
	}
	want := slices.Concat(
		[]string{"InitialState", "mode-change plan", "UserMessage", "SessionStarted", "start"},
		[]string{"tool-input-start shell", "tool-input-available shell", "tool-output-denied"},
		ask, []string{"tool-output-denied"}, ask, []string{"mode-change build", "tool-output-available"},
		[]string{"tool-input-start shell", "tool-input-available shell", "tool-approval-request shell"},
		[]string{"tool-output-available", "finish", "SessionStopped completed"},
	)
	if !slices.Equal(seen, want) {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
	}
}

// The settings of an agent are not known before it starts: its first message in mode plan gives it
// the policy plan too.
func TestAFirstSandcastleMessagePlansWithTheAgentOfAModel(t *testing.T) {
	w := newModelServer(t, func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) { out.Text("Thinking.") })
	ann := w.client("ann")
	id := do[protocol.CreateResult](t, ann, protocol.DoCreate, "", protocol.CreateData{
		CWD: t.TempDir(), Lazy: true,
	}).Session
	state := func() *protocol.State {
		return do[protocol.SnapshotResult](t, ann, protocol.DoSnapshot, id, nil).Snapshot.State
	}
	if state().Options != nil {
		t.Fatal("the agent has started")
	}
	if exit := w.dialSandcastle(t).send(id, "hello", "plan"); !strings.Contains(exit, `"started"`) {
		t.Fatal(exit)
	}
	if got := state().Policy(); got != "plan" {
		t.Errorf("policy %s", got)
	}
}

// The agent of a model asks a client of Sandcastle, which answers by label and by text.
func TestASandcastleClientAnswersTheAgentOfAModel(t *testing.T) {
	w := newModelServer(t, func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
		if done := results(r); len(done) > 0 {
			out.Text("They said: " + done[0])
			return
		}
		out.Call("ask_user", map[string]any{"questions": []any{
			map[string]any{"question": "Which branch?", "choices": []any{
				map[string]string{"label": "main"}, map[string]string{"label": "next", "about": "the next release"},
			}},
			map[string]any{"question": "Why?"},
		}})
	})
	id := do[protocol.CreateResult](t, w.client("ann"), protocol.DoCreate, "", protocol.CreateData{
		CWD: t.TempDir(),
	}).Session
	s := &sandcastleStream{dialectConn: dialDialect(t, "ws://server/dialect/sandcastle", w.dial)}
	s.start("chat.subscribe", map[string]string{"sessionId": id})
	s.until("InitialState")
	exit := s.request("chat.send", map[string]string{
		"sessionId": id, "content": "release it", "clientMessageId": "client-1-a",
	})
	if !strings.Contains(exit, `"started"`) {
		t.Fatal(exit)
	}
	asked := s.until("tool-approval-request AskUserQuestion")
	call := s.event("tool-input-available mcp__plan-mode-ui__AskUserQuestion")
	var input struct {
		Questions []struct {
			Question string
			Options  []struct{ Label string }
		}
	}
	if err := json.Unmarshal(call.Input, &input); err != nil || call.ToolCallID != asked.ToolCallID ||
		len(input.Questions) != 2 || input.Questions[0].Options[1].Label != "next" {
		t.Errorf("call %+v of request %+v: %v", call, asked, err)
	}
	s.answer(id, &asked, true, map[string]any{"type": "AskUserQuestionPayload", "answers": map[string]string{
		"Which branch?": "next", "Why?": "it is ready",
	}})
	s.until("SessionStopped")
	text := strings.Join(texts(t, w, id), "")
	if !strings.Contains(text, "- next") || !strings.Contains(text, "- it is ready") {
		t.Errorf("the model did not get the answers: %s", text)
	}
}
