package myagent

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
)

// examples returns the examples of the protocol's document, by name. The document writes them in
// JavaScript and Python; the file holds them as JSON without the ellipses.
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

// MY-1, MY-3: each example is understood by its receiver: the client does not record it raw, and
// the server answers without an error.
func TestEveryExampleIsUnderstood(t *testing.T) {
	for name, frame := range examples(t) {
		m, ok := decodeMessage([]byte(frame))
		if !ok {
			t.Fatalf("%s is not a frame", name)
		}
		if strings.HasPrefix(string(m.Event), "user.") {
			b := openedServer(t)
			b.receiveNative(b.native.append("s1", event(protocol.ApprovalRequested, "t1", protocol.Approval{
				Request: "plan_confirm_1", Kind: protocol.ApprovePlan, Options: []protocol.Option{},
			}))...)
			b.takeEvents()
			b.native.answers[protocol.DoApprove] = func(protocol.Command) (any, *protocol.Error) {
				return protocol.ApproveResult{}, nil
			}
			b.receive(strings.Replace(frame, "plan_confirm_1", "confirm_plan_plan_confirm_1", 1))
			if got := b.takeEvents(); len(got) != 0 {
				t.Errorf("%s: answered with %v", name, got)
			}
			continue
		}
		s := documentClient(t)
		before := len(s.transcript.Current().Items)
		s.receive(frame)
		items := s.transcript.Current().Items
		if len(items) == before && s.state.Plan == nil {
			t.Errorf("%s: nothing recorded", name)
		}
		for _, it := range items {
			if it.Type == protocol.Raw {
				t.Errorf("%s: recorded raw", name)
			}
		}
	}
}

// documentClient returns a client on a server with the document's features only, with one session
// and a turn.
func documentClient(t *testing.T) *clientTest {
	s := newClientTest(t)
	s.receive(`{"event":"system.connected","content":{"server_version":"1.0","capabilities":["plan"]}}`)
	s.command(protocol.DoCreate, "", protocol.CreateData{Title: "x"})
	s.receive(`{"event":"agent.session_created","session_id":"sess_123","metadata":{"agent_name":"ppt"}}`)
	s.call(protocol.DoSubscribe, "sess_123", protocol.SubscribeData{}, nil)
	s.call(protocol.DoSend, "sess_123", protocol.SendData{Text: "make slides"}, nil)
	s.takeSent()
	return s
}

// MY-3, MY-12, MY-21, MY-23, MY-29, MY-31: each example of a server is decoded completely.
func TestTheDocumentsExamplesAreUnderstood(t *testing.T) {
	example := examples(t)
	s := documentClient(t)
	s.receive(example["seq"])
	if it := s.lastItem(); it.Kind != protocol.ItemReasoning || it.Text.String() != "Processing query..." || it.Open {
		t.Errorf("%+v", it)
	}
	s.receive(example["planned"])
	if p := s.state.Plan; p == nil || len(p.Tasks) != 1 || p.Tasks[0].ID != "1" || p.Summary != "..." {
		t.Errorf("%+v", p)
	}
	s.receive(example["confirm"])
	a := s.state.Approvals[0]
	if a.Kind != protocol.ApprovePlan || len(a.Tasks) != 3 || a.Tasks[1].Title != "Optimize styling" ||
		a.Title != "请确认规划（3 个任务）：生成PPT、优化样式、导出文件" ||
		a.Why != "Generate a presentation with 5 slides..." {
		t.Errorf("%+v", a)
	}
	s.call(protocol.DoApprove, "sess_123", protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce}, nil)
	m := s.takeSent()[0]
	if m.Event != userResponse || m.Step != "plan_confirm_1" || parseObject(m.Content).str("approved") != "true" ||
		parseObject(m.Content).str("confirmed") != "true" {
		t.Errorf("sent %+v %s", m, m.Content)
	}
	s.receive(example["solved"])
	var done protocol.TaskData
	if err := json.Unmarshal(s.lastItem().Data, &done); err != nil || s.lastItem().Type != protocol.TaskCompleted ||
		done.Task != "1" || done.Title != "Generate PPT" ||
		done.Result != `{"slides":5,"status":"success"}` || done.DurationMS != 2500 || done.Calls != 3 ||
		done.Usage.Input != 1200 || done.Usage.Output != 800 {
		t.Errorf("%v %+v", err, done)
	}
	s.receive(example["timeout"])
	var fault protocol.ErrorData
	if err := json.Unmarshal(s.lastItem().Data, &fault); err != nil || fault.Kind != protocol.ErrorKindTimeout ||
		fault.LimitMS != 30000 || fault.ElapsedMS != 31500 ||
		fault.Action != "retry" || fault.Message != "Task execution exceeded 30 second timeout" ||
		s.lastItem().Task != "task_1" {
		t.Errorf("%v %+v", err, fault)
	}
	s.receive(example["retry"])
	var retry protocol.RetryData
	if err := json.Unmarshal(s.lastItem().Data, &retry); err != nil || retry.Attempt != 1 || retry.Limit != 3 {
		t.Errorf("%v %+v", err, retry)
	}
}

// MY-4, X-25: the server encodes the same events as in the examples, including display texts.
func TestTheDocumentsExamplesAreEncoded(t *testing.T) {
	example := examples(t)
	b := openedServer(t)
	tasks := []protocol.Task{
		{ID: "1", Title: "Generate PPT", Description: "..."},
		{ID: "2", Title: "Optimize styling", Description: "..."},
		{ID: "3", Title: "Export file", Description: "..."},
	}
	b.receiveNative(b.native.append("s1",
		event(protocol.MessageUser, "t1", protocol.Message{MessageID: "m1", Text: "slides"}),
		event(protocol.PlanStarted, "t1", protocol.PlanStartedData{Question: "slides"}),
		event(protocol.PlanUpdated, "t1", protocol.PlanTasksData{
			Tasks: tasks, Summary: "Generate a presentation with 5 slides...",
		}),
		event(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: "r1", Kind: protocol.ApprovePlan, Title: "Plan", Tasks: tasks, Asked: start,
		}),
		event(protocol.PlanCompleted, "t1", protocol.PlanTasksData{
			Tasks: tasks, Summary: "Generate a presentation with 5 slides...",
		}),
		event(protocol.TaskCompleted, "t1", protocol.TaskData{
			Task: "1", Title: "Generate PPT", Result: `{"slides":5,"status":"success"}`, DurationMS: 2500, Calls: 3,
			Usage: &protocol.Usage{Input: 1200, Output: 800},
		}),
		protocol.Event{
			Type: protocol.ErrorRaised, Turn: "t1", Task: "task_1",
			Data: protocol.MustEncode(protocol.ErrorData{
				Kind: protocol.ErrorKindTimeout, Message: "Task execution exceeded 30 second timeout", LimitMS: 30000,
				ElapsedMS: 31500, Action: "retry",
			}),
		},
		event(protocol.RetryScheduled, "t1", protocol.RetryData{Attempt: 1, Limit: 3}),
	)...)
	for _, name := range []string{"confirm", "solved", "timeout", "retry"} {
		want, _ := decodeMessage([]byte(example[name]))
		got := b.nextFrame(string(want.Event))
		if want.Event == solverCompleted { // the real system puts the result beside its summary
			o := parseObject(want.Content)
			o["result"] = protocol.MustEncode(meta{"output": o["result"]})
			want.Content = protocol.MustEncode(o)
		}
		if want.Event == agentUserConfirm { // the example's display text does not match its tasks
			want.Show = "请确认规划（3 个任务）：Generate PPT、Optimize styling、Export file"
			want.Content = protocol.MustEncode(string(want.Show))
		}
		if len(want.Content) > 0 && !includesJSON(got.Content, want.Content) ||
			want.Show != "" && got.Show != want.Show {
			t.Errorf("%s:\nwant %s %s\n got %s %s", want.Event, want.Content, want.Show, got.Content, got.Show)
		}
		for key, v := range parseObject(want.Metadata) {
			if !includesJSON(metaOf(got)[key], v) {
				t.Errorf("%s: metadata.%s is %s, want %s", want.Event, key, metaOf(got)[key], v)
			}
		}
	}
	b.receiveNative(b.native.append("s1", event(protocol.PlanCompleted, "t1", protocol.PlanTasksData{Tasks: tasks}))...)
	if m := b.nextFrame(planCompleted); m.Show != "规划完成（3 个任务）" {
		t.Errorf("display text %s", m.Show)
	}
	// The server decodes the client's examples.
	b.receive(example["ack"])
	b.native.answers[protocol.DoApprove] = func(c protocol.Command) (any, *protocol.Error) {
		return protocol.ApproveResult{}, nil
	}
	b.receive(strings.Replace(example["response"], "plan_confirm_1", "confirm_plan_r1", 1))
	var d protocol.ApproveData
	if b.lastCommand(protocol.DoApprove, &d); d.Request != "r1" || d.Decision != protocol.AllowOnce {
		t.Errorf("%+v", d)
	}
}

// includesJSON reports whether a has the values of b. Objects of a may have further fields.
func includesJSON(a, b json.RawMessage) bool {
	var of, want []json.RawMessage
	if o := parseObject(b); o != nil {
		have := parseObject(a)
		for name, v := range o {
			if !includesJSON(have[name], v) {
				return false
			}
		}
		return true
	}
	if len(b) > 0 && b[0] == '[' && json.Unmarshal(a, &of) == nil && json.Unmarshal(b, &want) == nil {
		for i, v := range want {
			if i >= len(of) || !includesJSON(of[i], v) {
				return false
			}
		}
		return len(of) == len(want)
	}
	return equalJSON(a, b)
}

func equalJSON(a, b json.RawMessage) bool {
	x, err1 := canonicalJSON(a)
	y, err2 := canonicalJSON(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

// MY-19, MY-22: the pipeline is encoded in order, and each frame of a task names it.
func TestAPipelineIsEncodedInOrder(t *testing.T) {
	b := openedServer(t)
	b.takeEvents()
	in := func(task string, e protocol.Event) protocol.Event { e.Task = task; return e }
	tasks := []protocol.Task{{ID: "1", Title: "a"}}
	b.receiveNative(b.native.append("s1",
		event(protocol.PlanStarted, "t1", protocol.PlanStartedData{Question: "q"}),
		event(protocol.PlanCompleted, "t1", protocol.PlanTasksData{Tasks: tasks}),
		in("1", event(protocol.TaskStarted, "t1", protocol.TaskData{Task: "1"})),
		in("1", event(protocol.ReasoningDelta, "t1", protocol.PartDeltaData{Part: "p", Text: "hm"})),
		in("1", event(protocol.ToolStarted, "t1", protocol.ToolStartedData{
			Tool: "c1", Name: "get_weather", Input: json.RawMessage(`{"city":"Paris"}`),
		})),
		in("1", event(protocol.ToolOutput, "t1", protocol.ToolOutputData{Tool: "c1", Text: "sunny"})),
		in("1", event(protocol.ToolEnded, "t1", protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})),
		in("1", event(protocol.TaskCompleted, "t1", protocol.TaskData{Task: "1"})),
		event(protocol.AggregateStarted, "t1", protocol.AggregateData{}),
		event(protocol.AggregateCompleted, "t1", protocol.AggregateData{Text: "It is sunny."}),
		event(protocol.PipelineCompleted, "t1", protocol.AggregateData{}),
		event(protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonCompleted}),
	)...)
	for _, m := range b.frames {
		inside := slices.Contains([]string{
			agentThinking, agentToolCall, agentToolResult, solverStart, solverCompleted,
		}, string(m.Event))
		if inside != (metaOf(m).str("task_id") == "1") {
			t.Errorf("%s: task_id %s", m.Event, metaOf(m)["task_id"])
		}
		switch string(m.Event) {
		case agentToolCall:
			if o := metaOf(m); m.Step != "c1" || o.str("tool") != "get_weather" || o.str("status") != "running" ||
				parseObject(o["args"]).str("city") != "Paris" {
				t.Errorf("%s", m.Metadata)
			}
		case agentToolResult:
			if o := metaOf(m); m.Step != "c1" || o.str("status") != "success" || scalarText(m.Content) != "sunny" {
				t.Errorf("%s %s", m.Content, m.Metadata)
			}
		case solverCompleted:
			if took := metaOf(m).int("execution_time_ms"); took != 5000 { // measured by event times
				t.Errorf("the task took %d ms", took)
			}
		case agentFinalAnswer:
			if scalarText(m.Content) != "It is sunny." {
				t.Errorf("%s", m.Content)
			}
		}
	}
	want := []string{
		planStart, planCompleted, solverStart, agentThinking, agentToolCall, agentToolResult, solverCompleted,
		aggregateStart, aggregateCompleted,
		pipelineCompleted, agentFinalAnswer,
	}
	if got := b.takeEvents(); !slices.Equal(got, want) {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
}

// MY-20, MY-24, MY-25: the end of a plan, task, turn, session and recovery, and each error, has its
// event.
func TestEveryEndHasItsEvent(t *testing.T) {
	for _, c := range []struct {
		event protocol.Event
		want  string
		check func(message) bool
	}{
		{
			event(protocol.PlanCancelled, "t1", protocol.PlanErrorData{Message: "no"}), planCancelled,
			func(m message) bool {
				return parseObject(m.Content).str("reason") == "no" && metaOf(m).str("reason") == "no"
			},
		},
		{
			event(protocol.PlanInvalid, "t1", protocol.PlanErrorData{Message: "bad", Details: []string{"2"}}),
			planCoercion, func(m message) bool { return contentText(m.Content) == "bad" && metaOf(m).has("details") },
		},
		{
			event(protocol.TaskCancelled, "t1", protocol.TaskData{Task: "1", Message: "no"}), solverCancelled,
			func(m message) bool { return metaOf(m).str("reason") == "no" },
		},
		{
			event(protocol.TaskRestarted, "t1", protocol.TaskData{Task: "1", Attempt: 2, Message: "again"}),
			solverRestarted,
			func(m message) bool { return metaOf(m).int("retry_count") == 1 && metaOf(m).str("reason") == "again" },
		},
		{
			event(protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonInterrupted}),
			agentInterrupted, func(m message) bool { return metaOf(m).str("reason") == "interrupted" },
		},
		{
			event(protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonTimeout, DurationMS: 1500}),
			agentTimeout,
			func(m message) bool { return metaOf(m).num("duration_seconds") == 1.5 && metaOf(m).has("stage") },
		},
		{event(protocol.TurnEnded, "t1", protocol.TurnEndedData{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: "gone",
		}), agentError, func(m message) bool {
			return scalarText(m.Content) == "gone" && metaOf(m).str("error_type") == "agent_failed" &&
				metaOf(m).has("context")
		}},
		{
			event(protocol.SessionClosed, "", protocol.SessionClosedData{Reason: "done"}), agentSessionEnd,
			func(m message) bool { return metaOf(m).has("duration_seconds") && metaOf(m).has("turns") },
		},
		{
			event(protocol.ErrorRaised, "t1", protocol.ErrorData{
				Kind: "validation", Message: "x", Fields: map[string]string{"a": "b"},
			}),
			errorValidation, func(m message) bool { return metaOf(m).has("errors") },
		},
		{
			event(protocol.ErrorRaised, "t1", protocol.ErrorData{
				Kind: "execution", Code: "c", Message: "x", Details: map[string]string{"a": "b"},
			}),
			errorExecution, func(m message) bool { return metaOf(m).has("recoverable") && metaOf(m).has("context") },
		},
		{event(protocol.RecoveryStarted, "t1", protocol.RecoveryData{
			Action: "restart", EstimateMS: 2000,
		}), errorRecoveryStarted, func(m message) bool {
			return metaOf(m).str("recovery_action") == "restart" && metaOf(m).num("estimated_duration_seconds") == 2
		}},
		{event(protocol.RecoverySucceeded, "t1", protocol.RecoveryData{
			Action: "restart", Attempt: 2, DurationMS: 2000,
		}), errorRecoverySuccess, func(m message) bool {
			return metaOf(m).int("attempt_count") == 2 && metaOf(m).num("recovery_time_seconds") == 2
		}},
		{event(protocol.RecoveryFailed, "t1", protocol.RecoveryData{
			Code: "c", Cause: "x", Failure: "y",
		}), errorRecoveryFailed, func(m message) bool {
			return metaOf(m).str("error_code") == "c" && metaOf(m).str("original_error") == "x" &&
				metaOf(m).str("recovery_error") == "y"
		}},
	} {
		b := openedServer(t)
		b.receiveNative(b.native.append("s1", c.event)...)
		if m := b.nextFrame(c.want); !c.check(m) || m.Show == "" {
			t.Errorf("%s: %s %s %s", c.want, m.Content, m.Metadata, m.Show)
		}
	}
}
