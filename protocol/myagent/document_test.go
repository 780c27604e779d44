package myagent

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
)

// examples are those of the protocol's document, by name. It writes them as JavaScript and Python; here they are JSON, and what it
// leaves out with dots is left out.
func examples(t testing.TB) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/examples.json")
	if err != nil {
		t.Fatal(err)
	}
	var list map[string]json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for name, frame := range list {
		all[name] = string(frame)
	}
	return all
}

// MY-1, MY-3: every example, none left out, is understood by who it is said to: by our client without keeping it raw, by our server
// without an error; and what our client reads is what the example holds.
func TestEveryExampleIsUnderstood(t *testing.T) {
	for name, frame := range examples(t) {
		m, ok := decode([]byte(frame))
		if !ok {
			t.Fatalf("%s is no frame", name)
		}
		if strings.HasPrefix(string(m.Event), "user.") {
			b := opened(t)
			b.native(b.peer.add("s1", event(protocol.ApprovalRequested, "t1", protocol.Approval{
				Request: "plan_confirm_1", Kind: protocol.ApprovePlan, Options: []protocol.Option{},
			}))...)
			b.events()
			b.peer.answers[protocol.DoApprove] = func(protocol.Command) (any, *protocol.Error) { return protocol.ApproveResult{}, nil }
			b.say(strings.Replace(frame, "plan_confirm_1", "confirm_plan_plan_confirm_1", 1))
			if got := b.events(); len(got) != 0 {
				t.Errorf("%s is answered with %v", name, got)
			}
			continue
		}
		s := documented(t)
		before := len(s.story.Current().Items)
		s.hear(frame)
		items := s.story.Current().Items
		if len(items) == before && s.state.Plan == nil {
			t.Errorf("%s tells nothing", name)
		}
		for _, it := range items {
			if it.Type == protocol.Raw {
				t.Errorf("%s is kept raw", name)
			}
		}
	}
}

// documented is our client on a server that does no more than the document says, with one session and a turn.
func documented(t *testing.T) *stage {
	s := newStage(t)
	s.hear(`{"event":"system.connected","content":{"server_version":"1.0","capabilities":["plan"]}}`)
	s.ask(protocol.DoCreate, "", protocol.CreateData{Title: "x"})
	s.hear(`{"event":"agent.session_created","session_id":"sess_123","metadata":{"agent_name":"ppt"}}`)
	s.get(protocol.DoSubscribe, "sess_123", protocol.SubscribeData{}, nil)
	s.get(protocol.DoSend, "sess_123", protocol.SendData{Text: "make slides"}, nil)
	s.said()
	return s
}

// MY-3, MY-12, MY-21, MY-23, MY-29, MY-31: every example that a server sends is understood whole.
func TestTheDocumentsExamplesAreUnderstood(t *testing.T) {
	example := examples(t)
	s := documented(t)
	s.hear(example["seq"])
	if it := s.item(); it.Kind != protocol.ItemReasoning || it.Text.String() != "Processing query..." || it.Open {
		t.Errorf("%+v", it)
	}
	s.hear(example["planned"])
	if p := s.state.Plan; p == nil || len(p.Tasks) != 1 || p.Tasks[0].ID != "1" || p.Summary != "..." {
		t.Errorf("%+v", p)
	}
	s.hear(example["confirm"])
	a := s.state.Approvals[0]
	if a.Kind != protocol.ApprovePlan || len(a.Tasks) != 3 || a.Tasks[1].Title != "Optimize styling" || a.Title != "请确认规划（3 个任务）：生成PPT、优化样式、导出文件" ||
		a.Why != "Generate a presentation with 5 slides..." {
		t.Errorf("%+v", a)
	}
	s.get(protocol.DoApprove, "sess_123", protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce}, nil)
	m := s.said()[0]
	if m.Event != userResponse || m.Step != "plan_confirm_1" || object(m.Content).str("approved") != "true" || object(m.Content).str("confirmed") != "true" {
		t.Errorf("answered %+v %s", m, m.Content)
	}
	s.hear(example["solved"])
	var done protocol.TaskData
	if err := json.Unmarshal(s.item().Data, &done); err != nil || s.item().Type != protocol.TaskCompleted || done.Task != "1" || done.Title != "Generate PPT" ||
		done.Result != `{"slides":5,"status":"success"}` || done.DurationMS != 2500 || done.Calls != 3 || done.Usage.Input != 1200 || done.Usage.Output != 800 {
		t.Errorf("%v %+v", err, done)
	}
	s.hear(example["timeout"])
	var fault protocol.ErrorData
	if err := json.Unmarshal(s.item().Data, &fault); err != nil || fault.Kind != protocol.ErrorKindTimeout || fault.LimitMS != 30000 || fault.ElapsedMS != 31500 ||
		fault.Action != "retry" || fault.Message != "Task execution exceeded 30 second timeout" || s.item().Task != "task_1" {
		t.Errorf("%v %+v", err, fault)
	}
	s.hear(example["retry"])
	var retry protocol.RetryData
	if err := json.Unmarshal(s.item().Data, &retry); err != nil || retry.Attempt != 1 || retry.Limit != 3 {
		t.Errorf("%v %+v", err, retry)
	}
}

// MY-4, X-25: the same events in our server's words are the examples, display texts and all.
func TestTheDocumentsExamplesAreTold(t *testing.T) {
	example := examples(t)
	b := opened(t)
	tasks := []protocol.Task{{ID: "1", Title: "Generate PPT", Description: "..."}, {ID: "2", Title: "Optimize styling", Description: "..."}, {ID: "3", Title: "Export file", Description: "..."}}
	b.native(b.peer.add("s1",
		event(protocol.MessageUser, "t1", protocol.Message{MessageID: "m1", Text: "slides"}),
		event(protocol.PlanStarted, "t1", protocol.PlanStartedData{Question: "slides"}),
		event(protocol.PlanUpdated, "t1", protocol.PlanTasksData{Tasks: tasks, Summary: "Generate a presentation with 5 slides..."}),
		event(protocol.ApprovalRequested, "t1", protocol.Approval{Request: "r1", Kind: protocol.ApprovePlan, Title: "Plan", Tasks: tasks, Asked: start}),
		event(protocol.PlanCompleted, "t1", protocol.PlanTasksData{Tasks: tasks, Summary: "Generate a presentation with 5 slides..."}),
		event(protocol.TaskCompleted, "t1", protocol.TaskData{
			Task: "1", Title: "Generate PPT", Result: `{"slides":5,"status":"success"}`, DurationMS: 2500, Calls: 3, Usage: &protocol.Usage{Input: 1200, Output: 800},
		}),
		protocol.Event{Type: protocol.ErrorRaised, Turn: "t1", Task: "task_1", Data: protocol.MustEncode(protocol.ErrorData{
			Kind: protocol.ErrorKindTimeout, Message: "Task execution exceeded 30 second timeout", LimitMS: 30000, ElapsedMS: 31500, Action: "retry",
		})},
		event(protocol.RetryScheduled, "t1", protocol.RetryData{Attempt: 1, Limit: 3}),
	)...)
	for _, name := range []string{"confirm", "solved", "timeout", "retry"} {
		want, _ := decode([]byte(example[name]))
		got := b.next(string(want.Event))
		if want.Event == agentUserConfirm { // the document's display text has other titles than its tasks
			want.Show = "请确认规划（3 个任务）：Generate PPT、Optimize styling、Export file"
			want.Content = protocol.MustEncode(string(want.Show))
		}
		if len(want.Content) > 0 && !equalJSON(want.Content, got.Content) || want.Show != "" && got.Show != want.Show {
			t.Errorf("%s:\nwant %s %s\n got %s %s", want.Event, want.Content, want.Show, got.Content, got.Show)
		}
		for key, v := range object(want.Metadata) {
			if !equalJSON(v, meta1(got)[key]) {
				t.Errorf("%s: metadata.%s is %s, want %s", want.Event, key, meta1(got)[key], v)
			}
		}
	}
	b.native(b.peer.add("s1", event(protocol.PlanCompleted, "t1", protocol.PlanTasksData{Tasks: tasks}))...)
	if m := b.next(planCompleted); m.Show != "规划完成（3 个任务）" {
		t.Errorf("shown %s", m.Show)
	}
	// What the client says in the examples is understood.
	b.say(example["ack"])
	b.peer.answers[protocol.DoApprove] = func(c protocol.Command) (any, *protocol.Error) { return protocol.ApproveResult{}, nil }
	b.say(strings.Replace(example["response"], "plan_confirm_1", "confirm_plan_r1", 1))
	var d protocol.ApproveData
	if b.last(protocol.DoApprove, &d); d.Request != "r1" || d.Decision != protocol.AllowOnce {
		t.Errorf("%+v", d)
	}
}

func equalJSON(a, b json.RawMessage) bool {
	x, err1 := canonical(a)
	y, err2 := canonical(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

// MY-19, MY-22: the whole pipeline is told in its order, and what belongs to a task says so.
func TestAPipelineIsToldInOrder(t *testing.T) {
	b := opened(t)
	b.events()
	in := func(task string, e protocol.Event) protocol.Event { e.Task = task; return e }
	tasks := []protocol.Task{{ID: "1", Title: "a"}}
	b.native(b.peer.add("s1",
		event(protocol.PlanStarted, "t1", protocol.PlanStartedData{Question: "q"}),
		event(protocol.PlanCompleted, "t1", protocol.PlanTasksData{Tasks: tasks}),
		in("1", event(protocol.TaskStarted, "t1", protocol.TaskData{Task: "1"})),
		in("1", event(protocol.ReasoningDelta, "t1", protocol.PartDeltaData{Part: "p", Text: "hm"})),
		in("1", event(protocol.ToolStarted, "t1", protocol.ToolStartedData{Tool: "c1", Name: "get_weather", Input: json.RawMessage(`{"city":"Paris"}`)})),
		in("1", event(protocol.ToolOutput, "t1", protocol.ToolOutputData{Tool: "c1", Text: "sunny"})),
		in("1", event(protocol.ToolEnded, "t1", protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})),
		in("1", event(protocol.TaskCompleted, "t1", protocol.TaskData{Task: "1"})),
		event(protocol.AggregateStarted, "t1", protocol.AggregateData{}),
		event(protocol.AggregateCompleted, "t1", protocol.AggregateData{Text: "It is sunny."}),
		event(protocol.PipelineCompleted, "t1", protocol.AggregateData{}),
		event(protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonCompleted}),
	)...)
	for _, m := range b.frames {
		inside := slices.Contains([]string{agentThinking, agentToolCall, agentToolResult, solverStart, solverCompleted}, string(m.Event))
		if inside != (meta1(m).str("task_id") == "1") {
			t.Errorf("%s: task_id %s", m.Event, meta1(m)["task_id"])
		}
		switch string(m.Event) {
		case agentToolCall:
			if o := meta1(m); m.Step != "c1" || o.str("tool") != "get_weather" || o.str("status") != "running" || object(o["args"]).str("city") != "Paris" {
				t.Errorf("%s", m.Metadata)
			}
		case agentToolResult:
			if o := meta1(m); m.Step != "c1" || o.str("status") != "success" || plain(m.Content) != "sunny" {
				t.Errorf("%s %s", m.Content, m.Metadata)
			}
		case solverCompleted:
			if took := meta1(m).int("execution_time_ms"); took != 5000 { // by the times of the events
				t.Errorf("the task took %d ms", took)
			}
		case agentFinalAnswer:
			if plain(m.Content) != "It is sunny." {
				t.Errorf("%s", m.Content)
			}
		}
	}
	want := []string{
		planStart, planCompleted, solverStart, agentThinking, agentToolCall, agentToolResult, solverCompleted, aggregateStart, aggregateCompleted,
		pipelineCompleted, agentFinalAnswer,
	}
	if got := b.events(); !slices.Equal(got, want) {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
}

// MY-20, MY-24, MY-25: cancelled and broken plans, ends of turns and of the session each have their word.
func TestEveryEndHasItsWord(t *testing.T) {
	for _, c := range []struct {
		event protocol.Event
		want  string
		check func(message) bool
	}{
		{event(protocol.PlanCancelled, "t1", protocol.PlanErrorData{Message: "no"}), planCancelled, func(m message) bool { return string(m.Content) == "null" && meta1(m).str("reason") == "no" }},
		{event(protocol.PlanInvalid, "t1", protocol.PlanErrorData{Message: "bad", Details: []string{"2"}}), planCoercion, func(m message) bool { return plain(m.Content) == "bad" && meta1(m).has("details") }},
		{event(protocol.TaskCancelled, "t1", protocol.TaskData{Task: "1", Message: "no"}), solverCancelled, func(m message) bool { return meta1(m).str("reason") == "no" }},
		{event(protocol.TaskRestarted, "t1", protocol.TaskData{Task: "1", Attempt: 2, Message: "again"}), solverRestarted, func(m message) bool { return meta1(m).int("retry_count") == 1 && meta1(m).str("reason") == "again" }},
		{event(protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonInterrupted}), agentInterrupted, func(m message) bool { return meta1(m).str("reason") == "interrupted" }},
		{event(protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonTimeout, DurationMS: 1500}), agentTimeout, func(m message) bool { return meta1(m).num("duration_seconds") == 1.5 && meta1(m).has("stage") }},
		{event(protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: "gone"}), agentError, func(m message) bool {
			return plain(m.Content) == "gone" && meta1(m).str("error_type") == "agent_failed" && meta1(m).has("context")
		}},
		{event(protocol.SessionClosed, "", protocol.SessionClosedData{Reason: "done"}), agentSessionEnd, func(m message) bool { return meta1(m).has("duration_seconds") && meta1(m).has("turns") }},
		{event(protocol.ErrorRaised, "t1", protocol.ErrorData{Kind: "validation", Message: "x", Fields: map[string]string{"a": "b"}}), errorValidation, func(m message) bool { return meta1(m).has("errors") }},
		{event(protocol.ErrorRaised, "t1", protocol.ErrorData{Kind: "execution", Code: "c", Message: "x", Details: map[string]string{"a": "b"}}), errorExecution, func(m message) bool { return meta1(m).has("recoverable") && meta1(m).has("context") }},
		{event(protocol.RecoveryStarted, "t1", protocol.RecoveryData{Action: "restart", EstimateMS: 2000}), errorRecoveryStarted, func(m message) bool {
			return meta1(m).str("recovery_action") == "restart" && meta1(m).num("estimated_duration_seconds") == 2
		}},
		{event(protocol.RecoverySucceeded, "t1", protocol.RecoveryData{Action: "restart", Attempt: 2, DurationMS: 2000}), errorRecoverySuccess, func(m message) bool {
			return meta1(m).int("attempt_count") == 2 && meta1(m).num("recovery_time_seconds") == 2
		}},
		{event(protocol.RecoveryFailed, "t1", protocol.RecoveryData{Code: "c", Cause: "x", Failure: "y"}), errorRecoveryFailed, func(m message) bool {
			return meta1(m).str("error_code") == "c" && meta1(m).str("original_error") == "x" && meta1(m).str("recovery_error") == "y"
		}},
	} {
		b := opened(t)
		b.native(b.peer.add("s1", c.event)...)
		if m := b.next(c.want); !c.check(m) || m.Show == "" {
			t.Errorf("%s: %s %s %s", c.want, m.Content, m.Metadata, m.Show)
		}
	}
}
