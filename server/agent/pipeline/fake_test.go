package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestMain(m *testing.M) {
	thorough.Checks(300, 1000) // a schedule takes a fraction of a millisecond
	goleak.VerifyTestMain(m)
}

// A fakeAgent answers each message with a function of the test.
type fakeAgent struct {
	rig  *rig
	spec agent.Spec
	host agent.Host
	turn int

	closed bool
}

func (f *fakeAgent) Capabilities() agent.Capabilities { return f.rig.capabilities }

func (f *fakeAgent) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.End, error) {
	f.turn++
	text := turn.Message.Text
	f.rig.mu.Lock()
	f.rig.prompts = append(f.rig.prompts, text)
	f.rig.mu.Unlock()
	role := "solver"
	switch {
	case f.spec.Agent == "planner":
		role = "planner"
	case strings.HasPrefix(text, "A request was divided"):
		role = "aggregator"
	}
	task := ""
	if _, of, ok := strings.Cut(text, "Your task: "); ok {
		task, _, _ = strings.Cut(of, "\n")
	}
	return f.rig.act(ctx, &step{role: role, task: task, text: text, turn: f.turn, out: out})
}

// Explain implements agent.Explainer.
func (f *fakeAgent) Explain(_ context.Context, a protocol.Approval) (string, error) {
	return f.rig.explain(a), nil
}

func (f *fakeAgent) Close() error {
	f.rig.mu.Lock()
	defer f.rig.mu.Unlock()
	if !f.closed {
		f.closed = true
		f.rig.closed++
	}
	return nil
}

// A step is a turn of a fake agent.
type step struct {
	role, task, text string
	turn             int // of the conversation, from 1
	out              agent.Output
}

func (s *step) say(text string) {
	_ = s.out.Emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: text}})
}

func (s *step) use(input, output int64) {
	_ = s.out.Emit(agent.Event{
		Type: protocol.UsageUpdated,
		Data: protocol.Usage{Input: input, Output: output, Cost: 0.5, Currency: "USD", Model: "fake"},
	})
}

// A rig is a pipeline with fake agents. It records events and decides requests with decide.
type rig struct {
	t            *testing.T
	capabilities agent.Capabilities
	act          func(ctx context.Context, s *step) (agent.End, error)
	decide       func(ctx context.Context, a protocol.Approval) (agent.Verdict, error)
	onEmit       func(e agent.Event)
	explain      func(a protocol.Approval) string
	options      Options
	agent        *Agent
	turns        int

	blob agent.Blob // that was saved last

	mu      sync.Mutex
	events  []agent.Event
	asked   []protocol.Approval
	prompts []string
	saved   []byte
	opened  int
	closed  int

	problems []string
}

func (r *rig) problem(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

func newRig(t *testing.T, act func(ctx context.Context, s *step) (agent.End, error)) *rig {
	r := &rig{t: t, act: act}
	r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
		return agent.Verdict{Outcome: protocol.Allowed, Decision: protocol.AllowOnce}, nil
	}
	r.options = Options{Name: "team", Config: Config{Planner: "planner", Solver: "solver"}}
	r.options.Open = func(spec agent.Spec, host agent.Host) (agent.Agent, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.opened++
		return &fakeAgent{rig: r, spec: spec, host: host}, nil
	}
	return r
}

// open opens the pipeline, as after a restart with the saved state.
func (r *rig) open() {
	r.t.Helper()
	r.openWith(agent.Spec{Session: "s", CWD: "/work", State: r.saved})
}

func (r *rig) openWith(spec agent.Spec) {
	r.t.Helper()
	a, err := New(r.options, spec, r)
	if err != nil {
		r.t.Fatal(err)
	}
	switch a := a.(type) {
	case *Agent:
		r.agent = a
	case explainer:
		r.agent = a.Agent
	}
}

func (r *rig) send(ctx context.Context, text string) (agent.End, error) {
	return r.run(ctx, agent.Turn{Message: protocol.Message{Text: text}})
}

func (r *rig) plan(ctx context.Context, tasks ...protocol.Task) (agent.End, error) {
	return r.run(ctx, agent.Turn{
		Message: protocol.Message{Text: "run"}, Plan: &protocol.PlanRunData{Question: "why", Tasks: tasks},
	})
}

func (r *rig) run(ctx context.Context, turn agent.Turn) (agent.End, error) {
	r.t.Helper()
	if r.agent == nil {
		r.open()
	}
	r.turns++
	turn.ID = fmt.Sprintf("t%d", r.turns)
	end, err := r.agent.Run(ctx, turn, r)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opened != r.closed {
		r.t.Errorf("%d agents were opened, %d closed", r.opened, r.closed)
	}
	return end, err
}

func (r *rig) Emit(e agent.Event) error {
	r.mu.Lock()
	r.events = append(r.events, e)
	if e.Save != nil {
		r.saved = e.Save
	}
	r.mu.Unlock()
	if r.onEmit != nil {
		r.onEmit(e)
	}
	return nil
}

func (r *rig) Ask(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
	r.mu.Lock()
	r.asked = append(r.asked, a)
	r.mu.Unlock()
	return r.decide(ctx, a)
}

func (r *rig) Save(state []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saved = state
	return nil
}

func (r *rig) RecordProcessGroup(agent.ProcessGroup) error { return nil }
func (r *rig) SaveBlob(b agent.Blob) error                 { r.blob = b; return nil }
func (r *rig) Sync(context.Context) error                  { return nil }
func (r *rig) Blob(_ context.Context, id string) (agent.Blob, error) {
	if id != r.blob.ID {
		return agent.Blob{}, protocol.Errorf(protocol.CodeNotFound, "no blob %s", id)
	}
	return r.blob, nil
}
func (r *rig) RecordConversation(string, string) error         { return nil }
func (r *rig) Transcript(context.Context, int) (string, error) { return "", nil }
func (r *rig) Logf(format string, args ...any)                 { r.t.Logf(format, args...) }

// stages returns the events of the plan, its tasks and the aggregation, and checks that a state can
// follow them.
func (r *rig) stages() (all []string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		switch d := e.Data.(type) {
		case protocol.TaskData:
			all = append(all, fmt.Sprintf("%s %s", e.Type, d.Task))
		default:
			family, _, _ := strings.Cut(string(e.Type), ".")
			if slices.Contains([]string{"plan", "aggregate", "pipeline"}, family) {
				all = append(all, string(e.Type))
			}
		}
	}
	return all
}

// state reduces the events.
func (r *rig) state() *protocol.State {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := new(protocol.State)
	all := []agent.Event{
		{Type: protocol.MessageUser, Data: protocol.MessageUserData{}},
		{Type: protocol.TurnStarted, Data: protocol.TurnStartedData{}},
	}
	for i, e := range append(all, r.events...) {
		of := protocol.Event{
			Seq: uint64(i + 1), Turn: "t", Task: e.Task, Parent: e.Parent, Type: e.Type,
			Data: protocol.MustEncode(e.Data),
		}
		if err := s.Apply(&of); err != nil {
			r.t.Fatalf("apply %s: %v", of.Type, err)
		}
	}
	return s
}

// taskEnds returns the last event of each task.
func (r *rig) taskEnds() map[string]protocol.TaskData {
	r.mu.Lock()
	defer r.mu.Unlock()
	ends := map[string]protocol.TaskData{}
	for _, e := range r.events {
		if d, ok := e.Data.(protocol.TaskData); ok {
			ends[d.Task] = d
		}
	}
	return ends
}

// statuses returns the reduced status of each task.
func (r *rig) statuses() string {
	var all []string
	for _, t := range r.state().Plan.Tasks {
		all = append(all, t.ID+" "+t.Status)
	}
	return strings.Join(all, ", ")
}

// planOf returns the answer of a planner. Each task is "ID" or "ID<DEPENDENCY,…".
func planOf(tasks ...string) string {
	var list []map[string]any
	for _, text := range tasks {
		id, after, _ := strings.Cut(text, "<")
		t := map[string]any{"id": id, "title": "task " + id, "prompt": "do " + id}
		if after != "" {
			t["depends_on"] = strings.Split(after, ",")
		}
		list = append(list, t)
	}
	return string(protocol.MustEncode(map[string]any{"summary": "a plan", "tasks": list}))
}

// planned returns an act that plans these tasks, solves each with "result of TITLE", and aggregates
// to "all done".
func planned(tasks ...string) func(context.Context, *step) (agent.End, error) {
	return func(_ context.Context, s *step) (agent.End, error) {
		switch s.role {
		case "planner":
			s.say(planOf(tasks...))
		case "aggregator":
			s.say("all done")
		default:
			s.say("result of " + s.task)
		}
		return agent.End{}, nil
	}
}

// inBubble runs a test with virtual time.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
