package myagent

import (
	_ "embed"
	"encoding/json"
	"strings"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// MY-1, MY-3: each example is understood by its receiver: the client does not record it raw, and
// the server answers without an error.
func TestEveryExampleIsUnderstood(t *testing.T) {
	for name, frame := range myagenttest.Examples(t) {
		m, ok := wire.DecodeMessage([]byte(frame))
		if !ok {
			t.Fatalf("%s is not a frame", name)
		}
		if strings.HasPrefix(string(m.Event), "user.") {
			b := myagenttest.OpenedServer(t, Dialect.Server)
			b.ReceiveNative(b.Native.Append("s1", codectest.Event(protocol.ApprovalRequested, "t1", protocol.Approval{
				Request: "plan_confirm_1", Kind: protocol.ApprovePlan, Options: []protocol.Option{},
			}))...)
			b.TakeEvents()
			b.Native.Answers[protocol.DoApprove] = func(protocol.Command) (any, *protocol.Error) {
				return protocol.ApproveResult{}, nil
			}
			b.Receive(strings.Replace(frame, "plan_confirm_1", "confirm_plan_plan_confirm_1", 1))
			if got := b.TakeEvents(); len(got) != 0 {
				t.Errorf("%s: answered with %v", name, got)
			}
			continue
		}
		s := myagenttest.DocumentClient(t, Dialect.Client)
		before := len(s.Transcript.Current().Items)
		s.Receive(frame)
		items := s.Transcript.Current().Items
		if len(items) == before && s.State.Plan == nil {
			t.Errorf("%s: nothing recorded", name)
		}
		for _, it := range items {
			if it.Type == protocol.Raw {
				t.Errorf("%s: recorded raw", name)
			}
		}
	}
}

// MY-3, MY-12, MY-21, MY-23, MY-29, MY-31: each example of a server is decoded completely.
func TestTheDocumentsExamplesAreUnderstood(t *testing.T) {
	example := myagenttest.Examples(t)
	s := myagenttest.DocumentClient(t, Dialect.Client)
	s.Receive(example["seq"])
	if it := s.LastItem(); it.Kind != protocol.ItemReasoning || it.Text.String() != "Processing query..." || it.Open {
		t.Errorf("%+v", it)
	}
	s.Receive(example["planned"])
	if p := s.State.Plan; p == nil || len(p.Tasks) != 1 || p.Tasks[0].ID != "1" || p.Summary != "..." {
		t.Errorf("%+v", p)
	}
	s.Receive(example["confirm"])
	a := s.State.Approvals[0]
	if a.Kind != protocol.ApprovePlan || len(a.Tasks) != 3 || a.Tasks[1].Title != "Optimize styling" ||
		a.Title != "请确认规划（3 个任务）：生成PPT、优化样式、导出文件" ||
		a.Why != "Generate a presentation with 5 slides..." {
		t.Errorf("%+v", a)
	}
	s.Call(protocol.DoApprove, "sess_123", protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce}, nil)
	m := s.TakeSent()[0]
	if m.Event != wire.UserResponse || m.Step != "plan_confirm_1" || wire.ParseObject(m.Content).Str("approved") != "true" ||
		wire.ParseObject(m.Content).Str("confirmed") != "true" {
		t.Errorf("sent %+v %s", m, m.Content)
	}
	s.Receive(example["solved"])
	var done protocol.TaskData
	if err := json.Unmarshal(s.LastItem().Data, &done); err != nil || s.LastItem().Type != protocol.TaskCompleted ||
		done.Task != "1" || done.Title != "Generate PPT" ||
		done.Result != `{"slides":5,"status":"success"}` || done.DurationMS != 2500 || done.Calls != 3 ||
		done.Usage.Input != 1200 || done.Usage.Output != 800 {
		t.Errorf("%v %+v", err, done)
	}
	s.Receive(example["timeout"])
	var fault protocol.ErrorData
	if err := json.Unmarshal(s.LastItem().Data, &fault); err != nil || fault.Kind != protocol.ErrorKindTimeout ||
		fault.LimitMS != 30000 || fault.ElapsedMS != 31500 ||
		fault.Action != "retry" || fault.Message != "Task execution exceeded 30 second timeout" ||
		s.LastItem().Task != "task_1" {
		t.Errorf("%v %+v", err, fault)
	}
	s.Receive(example["retry"])
	var retry protocol.RetryData
	if err := json.Unmarshal(s.LastItem().Data, &retry); err != nil || retry.Attempt != 1 || retry.Limit != 3 {
		t.Errorf("%v %+v", err, retry)
	}
}

// MY-4, X-25: the server encodes the same events as in the examples, including display texts.
func TestTheDocumentsExamplesAreEncoded(t *testing.T) {
	example := myagenttest.Examples(t)
	b := myagenttest.OpenedServer(t, Dialect.Server)
	tasks := []protocol.Task{
		{ID: "1", Title: "Generate PPT", Description: "..."},
		{ID: "2", Title: "Optimize styling", Description: "..."},
		{ID: "3", Title: "Export file", Description: "..."},
	}
	b.ReceiveNative(b.Native.Append("s1",
		codectest.Event(protocol.MessageUser, "t1", protocol.Message{MessageID: "m1", Text: "slides"}),
		codectest.Event(protocol.PlanStarted, "t1", protocol.PlanStartedData{Question: "slides"}),
		codectest.Event(protocol.PlanUpdated, "t1", protocol.PlanTasksData{
			Tasks: tasks, Summary: "Generate a presentation with 5 slides...",
		}),
		codectest.Event(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: "r1", Kind: protocol.ApprovePlan, Title: "Plan", Tasks: tasks, Asked: codectest.Start,
		}),
		codectest.Event(protocol.PlanCompleted, "t1", protocol.PlanTasksData{
			Tasks: tasks, Summary: "Generate a presentation with 5 slides...",
		}),
		codectest.Event(protocol.TaskCompleted, "t1", protocol.TaskData{
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
		codectest.Event(protocol.RetryScheduled, "t1", protocol.RetryData{Attempt: 1, Limit: 3}),
	)...)
	for _, name := range []string{"confirm", "solved", "timeout", "retry"} {
		want, _ := wire.DecodeMessage([]byte(example[name]))
		got := b.NextFrame(string(want.Event))
		if want.Event == wire.SolverCompleted { // the real system sends the result in addition to its summary
			o := wire.ParseObject(want.Content)
			o["result"] = protocol.MustEncode(wire.Meta{"output": o["result"]})
			want.Content = protocol.MustEncode(o)
		}
		if want.Event == wire.AgentUserConfirm { // the example's display text does not match its tasks
			want.Show = "请确认规划（3 个任务）：Generate PPT、Optimize styling、Export file"
			want.Content = protocol.MustEncode(string(want.Show))
		}
		if len(want.Content) > 0 && !myagenttest.IncludesJSON(got.Content, want.Content) ||
			want.Show != "" && got.Show != want.Show {
			t.Errorf("%s:\nwant %s %s\n got %s %s", want.Event, want.Content, want.Show, got.Content, got.Show)
		}
		for key, v := range wire.ParseObject(want.Metadata) {
			if !myagenttest.IncludesJSON(myagenttest.MetaOf(got)[key], v) {
				t.Errorf("%s: metadata.%s is %s, want %s", want.Event, key, myagenttest.MetaOf(got)[key], v)
			}
		}
	}
	b.ReceiveNative(b.Native.Append("s1", codectest.Event(protocol.PlanCompleted, "t1", protocol.PlanTasksData{Tasks: tasks}))...)
	if m := b.NextFrame(wire.PlanCompleted); m.Show != "规划完成（3 个任务）" {
		t.Errorf("display text %s", m.Show)
	}
	// The server decodes the client's examples.
	b.Receive(example["ack"])
	b.Native.Answers[protocol.DoApprove] = func(c protocol.Command) (any, *protocol.Error) {
		return protocol.ApproveResult{}, nil
	}
	b.Receive(strings.Replace(example["response"], "plan_confirm_1", "confirm_plan_r1", 1))
	var d protocol.ApproveData
	if b.LastCommand(protocol.DoApprove, &d); d.Request != "r1" || d.Decision != protocol.AllowOnce {
		t.Errorf("%+v", d)
	}
}
