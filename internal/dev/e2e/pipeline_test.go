package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentctl/dialect"
	registry "agentctl/internal/agents"
	"agentctl/internal/dev/fakeacp"
	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/llm/provider"
	"agentctl/server/agent/pipeline"
	"agentctl/server/session"
	"agentctl/wsclient"
)

// A pipelineServer is a testServer with configured agents.
type pipelineServer struct {
	*testServer
	of *registry.Registry
}

// newPipelineServer starts a server whose default agent is a pipeline. The planner and the
// aggregator request a model that plans these tasks; the solver is the model, or an ACP agent. Each
// task's prompt ends with a step of fakeacp, which the model follows too: say, fail, hang or ask.
func newPipelineServer(t *testing.T, solver string, parallel int, tasks []protocol.Task) *pipelineServer {
	t.Helper()
	model := httptest.NewServer(fakemodel.New(func(ctx context.Context, r fakemodel.Request, out *fakemodel.Reply) {
		text := r.LastUser()
		switch {
		case strings.Contains(text, "You are the planner"):
			out.Text("Here it is:\n```json\n" + plannerAnswer(tasks) + "\n```\nShall I?")
		case strings.HasPrefix(text, "A request was divided"):
			out.Text(fmt.Sprintf("%d of %d done.", strings.Count(text, "(completed)"), strings.Count(text, "\n## ")))
		default:
			if result, ok := r.ToolResult(); ok {
				out.Text("ran: " + result)
				return
			}
			verb, rest, _ := strings.Cut(text[strings.LastIndexByte(text, '\n')+1:], " ")
			switch verb {
			case "say":
				out.Text(rest)
			case "fail":
				out.Fail(400, "broken")
			case "hang":
				out.Hang(ctx)
			case "ask":
				out.Call("shell", json.RawMessage(`{"command":"echo asked"}`))
			}
		}
	}))
	t.Cleanup(func() { model.CloseClientConnections(); model.Close() })
	t.Setenv("PIPELINE_KEY", "key")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	of := &registry.Registry{
		Providers: registry.Providers{
			"fake": {
				API: provider.Chat, BaseURL: model.URL + "/v1", KeyEnv: "PIPELINE_KEY",
				Models: map[string]provider.ModelConfig{"m": {}},
			},
		},
		Configured: map[string]registry.Config{
			"model": {Config: llm.Config{Model: "fake/m"}},
			"acp":   {Command: exe, Env: map[string]string{fakeacp.EnvVar: "plain"}},
			"main": {Pipeline: &pipeline.Config{
				Planner: "model", Solver: solver, Aggregator: "model", Parallel: parallel,
			}},
			"acp team": {Pipeline: &pipeline.Config{Solver: "acp"}},
		},
	}
	if err := of.CheckConfigured(); err != nil {
		t.Fatal(err)
	}
	w := &pipelineServer{&testServer{t: t, dir: t.TempDir()}, of}
	w.open()
	t.Cleanup(w.stop)
	return w
}

// open starts the server with the store of its directory.
func (w *pipelineServer) open() {
	w.t.Helper()
	server, err := serve(w.dir, w.of, func(s session.Store) session.Store { return s })
	if err != nil {
		w.t.Fatal(err)
	}
	w.server.Store(server)
}

// plannerAnswer returns the tasks as a model writes them: with other types of fields.
func plannerAnswer(tasks []protocol.Task) string {
	var list []map[string]any
	for _, t := range tasks {
		list = append(list, map[string]any{
			"id": json.RawMessage(t.ID), "title": t.Title, "prompt": t.Description,
			"depends_on": strings.Join(t.After, ", "),
		})
	}
	return string(protocol.MustEncode(map[string]any{"summary": "twenty tasks", "tasks": list}))
}

// A scheduleCheck follows the events of a plan and checks that they are legal.
type scheduleCheck struct {
	t        *testing.T
	parallel int
	most     int // tasks that ran concurrently
	tasks    map[string]*protocol.Task
	stages   []string
}

func (c *scheduleCheck) see(e *protocol.Event) {
	family, _, _ := strings.Cut(string(e.Type), ".")
	switch {
	case e.Type == protocol.PlanCompleted:
		var d protocol.PlanTasksData
		c.decode(e, &d)
		c.tasks = map[string]*protocol.Task{}
		for i := range d.Tasks {
			c.tasks[d.Tasks[i].ID] = &d.Tasks[i]
		}
	case family == "task":
		c.seeTask(e)
		return
	}
	if family == "plan" || family == "aggregate" || family == "pipeline" || e.Type == protocol.TurnEnded {
		c.stages = append(c.stages, string(e.Type))
	}
}

func (c *scheduleCheck) seeTask(e *protocol.Event) {
	var d protocol.TaskData
	c.decode(e, &d)
	t := c.tasks[d.Task]
	if t == nil || e.Task != d.Task {
		c.t.Fatalf("%s of task %q in %q", e.Type, d.Task, e.Task)
	}
	from, to := map[protocol.Type][]string{
		protocol.TaskStarted:   {protocol.StatusPending},
		protocol.TaskCompleted: {protocol.StatusRunning},
		protocol.TaskFailed:    {protocol.StatusRunning},
		protocol.TaskCancelled: {protocol.StatusRunning, protocol.StatusPending},
		protocol.TaskRestarted: {
			protocol.StatusRunning, protocol.StatusCompleted, protocol.StatusFailed, protocol.StatusCancelled,
		},
	}[e.Type], map[protocol.Type]string{
		protocol.TaskStarted: protocol.StatusRunning, protocol.TaskCompleted: protocol.StatusCompleted,
		protocol.TaskFailed: protocol.StatusFailed, protocol.TaskCancelled: protocol.StatusCancelled,
		protocol.TaskRestarted: protocol.StatusPending,
	}[e.Type]
	if to != "" && !slices.Contains(from, t.Status) {
		c.t.Errorf("%s of task %s, which is %s", e.Type, t.ID, t.Status)
	}
	if to != "" {
		t.Status = to
	}
	running := 0
	for _, other := range c.tasks {
		if other.Status == protocol.StatusRunning {
			running++
		}
	}
	c.most = max(c.most, running)
	if running > c.parallel {
		c.t.Errorf("%d tasks run concurrently", running)
	}
	for _, id := range t.After {
		if e.Type == protocol.TaskStarted && c.tasks[id].Status != protocol.StatusCompleted {
			c.t.Errorf("task %s started, %s is %s", t.ID, id, c.tasks[id].Status)
		}
	}
}

func (c *scheduleCheck) decode(e *protocol.Event, d any) {
	if err := json.Unmarshal(e.Data, d); err != nil {
		c.t.Fatal(err)
	}
}

// askStep is the step of fakeacp that requests permission.
const askStep = `ask {"toolCallId":"c1","title":"echo asked","kind":"execute","rawInput":{"command":"echo asked"}}`

// twentyTasks returns tasks of which 1 fails, 2 hangs and 3 asks. Tasks 5 to 7 depend on one of
// these each, 20 on all that complete.
func twentyTasks() (tasks []protocol.Task) {
	for n := 1; n <= 20; n++ {
		id := strconv.Itoa(n)
		tasks = append(tasks, protocol.Task{ID: id, Title: "task " + id, Description: "say result " + id})
	}
	tasks[0].Description = "fail -32000 broken"
	tasks[1].Description = "hang"
	tasks[2].Description = askStep
	tasks[4].After, tasks[5].After, tasks[6].After = []string{"1"}, []string{"2"}, []string{"3", "4"}
	for n := 7; n < 20; n++ {
		tasks[19].After = append(tasks[19].After, strconv.Itoa(n))
	}
	return tasks
}

func TestTwentyTasksOfWhichOneFailsOneIsCancelledAndOneRestarted(t *testing.T) {
	for _, solver := range []string{"model", "acp"} {
		t.Run(solver, func(t *testing.T) {
			w := newPipelineServer(t, solver, 4, twentyTasks())
			c := w.client("ann")
			id := w.create(c)
			check := &scheduleCheck{t: t, parallel: 4}
			w.send(c, id, "do twenty things")
			asked := 0
			seen := mustObserve(t, c, id, wsclient.SubscribeOptions{Since: logStart()}, func(e *protocol.Event) bool {
				check.see(e)
				switch {
				case e.Type == protocol.TaskStarted && e.Task == "2":
					do[protocol.Empty](t, c, protocol.DoTaskCancel, id, protocol.TaskIDData{Task: "2"})
				case e.Type == protocol.ApprovalRequested && e.Task == "":
					allow := protocol.ApproveData{Decision: protocol.AllowOnce}
					do[protocol.ApproveResult](t, c, protocol.DoApprove, id, allow)
				case e.Type == protocol.ApprovalRequested:
					var a protocol.Approval
					check.decode(e, &a)
					if asked++; asked == 1 { // the request of the ended attempt is withdrawn
						do[protocol.Empty](t, c, protocol.DoTaskRestart, id, protocol.TaskIDData{Task: e.Task})
						return false
					}
					if a.Task != "3" || !strings.Contains(a.Why, "task 3") || a.Kind != protocol.ApproveCommand {
						t.Errorf("request %+v", a)
					}
					do[protocol.ApproveResult](t, c, protocol.DoApprove, id, protocol.ApproveData{
						Request: a.Request, Decision: protocol.AllowOnce,
					})
				}
				return e.Type == protocol.TurnEnded
			})
			want := map[string]string{
				"1": protocol.StatusFailed, "2": protocol.StatusCancelled, "5": protocol.StatusCancelled,
				"6": protocol.StatusCancelled,
			}
			for _, task := range seen.state.Plan.Tasks {
				status := want[task.ID]
				if status == "" {
					status = protocol.StatusCompleted
				}
				if task.Status != status {
					t.Errorf("task %s is %s, want %s", task.ID, task.Status, status)
				}
			}
			stages := []string{
				"plan.started", "plan.updated", "plan.completed", "aggregate.started", "aggregate.completed",
				"pipeline.completed", "turn.ended",
			}
			if !slices.Equal(check.stages, stages) {
				t.Errorf("stages %q, want %q", check.stages, stages)
			}
			if check.most != 4 {
				t.Errorf("at most %d tasks ran concurrently, want 4", check.most)
			}
			if !strings.HasSuffix(seen.text(), "16 of 20 done.") {
				t.Errorf("answered %q", seen.text())
			}
			if len(seen.state.Approvals) != 0 || seen.state.Last.Reason != protocol.ReasonCompleted {
				t.Errorf("left %+v, ended %+v", seen.state.Approvals, seen.state.Last)
			}
		})
	}
}

func TestAnACPAgentPlansSolvesAndAggregates(t *testing.T) {
	w := newPipelineServer(t, "model", 1, nil)
	c := w.client("ann")
	id := do[protocol.CreateResult](t, c, protocol.DoCreate, "", protocol.CreateData{Agent: "acp team"}).Session
	s := follow(t, native, c, id)
	// The agent carries out each line of its prompts: the planner says the plan, the aggregator the
	// result.
	w.send(c, id, "make a page\nsay "+`{"tasks":[{"title":"read","prompt":"say read it"}]}`+"\n")
	if e := s.waitFor(protocol.ApprovalRequested); e.Task != "" {
		t.Errorf("%+v", e)
	}
	do[protocol.ApproveResult](t, c, protocol.DoApprove, id, protocol.ApproveData{Decision: protocol.AllowOnce})
	s.waitFor(protocol.TurnEnded)
	if got := taskStatuses(s.state.Plan); got != "1 completed" || s.state.Last.Reason != protocol.ReasonCompleted {
		t.Errorf("%s, ended %+v", got, s.state.Last)
	}
	if !strings.Contains(s.agentText(), "read it") {
		t.Errorf("answered %q", s.agentText())
	}
}

// A client of any dialect sends a request to a pipeline, confirms the plan and a command of a
// solver, and gets the answer.
func TestAPipelineIsDrivenInEveryDialect(t *testing.T) {
	for _, name := range append([]string{native}, dialect.Names()...) {
		t.Run(name, func(t *testing.T) {
			w := newPipelineServer(t, "model", 2, []protocol.Task{
				{ID: "1", Title: "read", Description: "say read it"},
				{ID: "2", Title: "write", Description: "ask", After: []string{"1"}},
			})
			ann := w.client("ann")
			id := w.create(ann)
			c := w.dialectClient(name, id)
			s, reference := follow(t, name, c, id), follow(t, native, ann, id)
			w.send(c, id, "make a page")
			for _, task := range []string{"", "2"} {
				s.waitFor(protocol.ApprovalRequested)
				if e := reference.waitFor(protocol.ApprovalRequested); e.Task != task {
					t.Errorf("task %q asks, want %q", e.Task, task)
				}
				do[protocol.ApproveResult](t, c, protocol.DoApprove, id, protocol.ApproveData{
					Decision: protocol.AllowOnce,
				})
			}
			s.waitFor(protocol.TurnEnded)
			reference.waitFor(protocol.TurnEnded)
			if !strings.HasSuffix(s.agentText(), "2 of 2 done.") {
				t.Errorf("answered %q", s.agentText())
			}
			if got := taskStatuses(reference.state.Plan); got != "1 completed, 2 completed" {
				t.Error(got)
			}
		})
	}
}

func TestAPlanGoesOnAfterARestartOfTheServer(t *testing.T) {
	w := newPipelineServer(t, "acp", 2, []protocol.Task{
		{ID: "1", Title: "read", Description: "say read it"},
		{ID: "2", Title: "write", Description: askStep, After: []string{"1"}},
		{ID: "3", Title: "publish", Description: "say published it", After: []string{"2"}},
	})
	c := w.client("ann")
	id := w.create(c)
	s := follow(t, native, c, id)
	w.send(c, id, "make a page")
	s.waitFor(protocol.ApprovalRequested)
	do[protocol.ApproveResult](t, c, protocol.DoApprove, id, protocol.ApproveData{Decision: protocol.AllowOnce})
	for s.waitFor(protocol.ApprovalRequested).Task != "2" {
	}
	w.stop()
	w.open()

	c = w.client("bob")
	s = follow(t, native, c, id)
	if last := s.state.Last; last.Reason != protocol.ReasonError || last.Code != protocol.CodeServerRestart {
		t.Errorf("the turn ended with %+v", last)
	}
	if got := taskStatuses(s.state.Plan); got != "1 completed, 2 failed, 3 pending" {
		t.Errorf("after the restart: %s", got)
	}
	do[protocol.Empty](t, c, protocol.DoTaskRestart, id, protocol.TaskIDData{Task: "2"})
	started := s.waitFor(protocol.TaskStarted)
	s.waitFor(protocol.ApprovalRequested)
	do[protocol.ApproveResult](t, c, protocol.DoApprove, id, protocol.ApproveData{Decision: protocol.AllowOnce})
	s.waitFor(protocol.TurnEnded)
	if got := taskStatuses(s.state.Plan); got != "1 completed, 2 completed, 3 completed" || started.Task != "2" {
		t.Errorf("at the end: %s; task %s started first", got, started.Task)
	}
	if !strings.HasSuffix(s.agentText(), "3 of 3 done.") {
		t.Errorf("answered %q", s.agentText())
	}
}

func taskStatuses(p *protocol.Plan) string {
	var all []string
	for _, t := range p.Tasks {
		all = append(all, t.ID+" "+t.Status)
	}
	return strings.Join(all, ", ")
}

// MY-12, MY-13, MY-19: a MyAgent client edits the plan of a pipeline. Its tasks name no
// dependencies; the dependencies of the plan stay. The answer follows the end of the pipeline.
func TestAMyAgentClientEditsThePlanOfAPipeline(t *testing.T) {
	w := newPipelineServer(t, "model", 4, []protocol.Task{
		{ID: "1", Title: "read", Description: "say read it"},
		{ID: "2", Title: "write", Description: "say wrote it", After: []string{"1"}},
		{ID: "3", Title: "publish", Description: "hang", After: []string{"2"}},
	})
	c := w.dialMyAgent(t)
	c.write(`{"event":"user.create_session","content":"main"}`)
	session := c.until("agent.session_created").Session
	c.write(`{"event":"user.message","session_id":"` + session + `","content":"make a page"}`)
	var order []string
	for {
		frame := c.next()
		family, _, _ := strings.Cut(frame.Event, ".")
		if family == "plan" || family == "solver" || family == "aggregate" || family == "pipeline" {
			order = append(order, frame.Event)
		}
		if frame.Event == "agent.user_confirm" {
			if frame.Meta.Scope != "plan" || len(frame.Meta.Tasks) != 3 {
				t.Fatalf("asked with %+v", frame)
			}
			c.write(`{"event":"user.response","session_id":"` + session + `","step_id":"` + frame.Step + `",` +
				`"content":{"confirmed":true,"approved":true,"tasks":[` +
				`{"id":1,"title":"read twice","description":"say read it twice"},` +
				`{"id":2,"title":"write","description":"say wrote it"}]}}`)
		}
		if frame.Event == "agent.final_answer" {
			if frame.Content != "2 of 2 done." {
				t.Errorf("answered %v", frame.Content)
			}
			break
		}
	}
	want := []string{
		"plan.start", "plan.completed", "plan.completed", "solver.start", "solver.completed", "solver.start",
		"solver.completed", "aggregate.start", "aggregate.completed", "pipeline.completed",
	}
	if !slices.Equal(order, want) {
		t.Errorf("frames %q, want %q", order, want)
	}
}
