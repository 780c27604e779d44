package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestStagesAreRecordedInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned("a", "b<a"))
		end, err := r.send(t.Context(), "do it")
		if err != nil || end.Reason != "" {
			t.Fatal(end, err)
		}
		want := []string{
			"plan.started", "plan.updated", "plan.completed", "task.started a", "task.completed a", "task.started b",
			"task.completed b", "aggregate.started", "aggregate.completed", "pipeline.completed",
		}
		if got := r.stages(); !slices.Equal(got, want) {
			t.Errorf("stages\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if got := r.statuses(); got != "a completed, b completed" {
			t.Error(got)
		}
		ask := r.asked[0]
		if len(r.asked) != 1 || ask.Kind != protocol.ApprovePlan || ask.Tasks[1].After[0] != "a" {
			t.Errorf("asked %+v", r.asked)
		}
		if p := r.prompts[2]; !strings.Contains(p, "result of task a") || strings.Contains(r.prompts[1], "result of") {
			t.Errorf("the second task got %q", p)
		}
		if p := r.prompts[3]; !strings.Contains(p, "result of task a") || !strings.Contains(p, "result of task b") {
			t.Errorf("the aggregator got %q", p)
		}
	})
}

func TestTextsOfSolversBelongToTheirTasksAndOnlyTheAnswerToTheTurn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned("a"))
		if _, err := r.send(t.Context(), "do it"); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range r.events {
			if d, ok := e.Data.(protocol.PartDeltaData); ok {
				got = append(got, string(e.Type)+" "+e.Task+" "+d.Text)
			}
		}
		want := []string{"reasoning.delta  " + planOf("a"), "text.delta a result of task a", "text.delta  all done"}
		if !slices.Equal(got, want) {
			t.Errorf("texts %q, want %q", got, want)
		}
	})
}

func TestAnInvalidPlanIsReportedAndAskedForAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned("a"))
		good := r.act
		r.act = func(ctx context.Context, s *step) (agent.End, error) {
			if s.role == "planner" && s.turn == 1 {
				s.say(planOf("a<b", "b<a"))
				return agent.End{}, nil
			}
			return good(ctx, s)
		}
		if _, err := r.send(t.Context(), "do it"); err != nil {
			t.Fatal(err)
		}
		if got := r.stages()[:3]; !slices.Equal(got, []string{"plan.started", "plan.invalid", "plan.updated"}) {
			t.Error(got)
		}
		if !strings.Contains(r.prompts[1], "cycle: a, b") {
			t.Errorf("the planner got %q", r.prompts[1])
		}
	})
}

func TestAPlannerThatNeverPlansFailsTheTurn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(_ context.Context, s *step) (agent.End, error) {
			s.say("I will do it myself.")
			return agent.End{}, nil
		})
		_, err := r.send(t.Context(), "do it")
		if protocol.CodeOf(err) != protocol.CodeAgentFailed || !strings.Contains(err.Error(), "no JSON object") {
			t.Error(err)
		}
		want := []string{"plan.started", "plan.invalid", "plan.invalid", "plan.invalid", "plan.failed"}
		if got := r.stages(); !slices.Equal(got, want) {
			t.Error(got)
		}
		if p := r.state().Plan; p.Status != protocol.StatusFailed {
			t.Error(p.Status)
		}
	})
}

func TestAPlannerMayAnswerWithoutTasks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(_ context.Context, s *step) (agent.End, error) {
			s.say("```json\n{\"answer\": \"Hello!\"}\n```")
			return agent.End{}, nil
		})
		if _, err := r.send(t.Context(), "hi"); err != nil {
			t.Fatal(err)
		}
		last := r.events[len(r.events)-2]
		d := last.Data.(protocol.PartDeltaData)
		if last.Type != protocol.TextDelta || d.Text != "Hello!" || len(r.asked) > 0 {
			t.Errorf("%+v, asked %v", last, r.asked)
		}
	})
}

func TestEditedTasksReplaceThoseOfThePlan(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned("a", "b<a", "c<a,b"))
		answers := [][]protocol.Task{
			{{ID: "b", Title: "x", After: []string{"c"}}, {ID: "c", Title: "y", After: []string{"b"}}},
			{{ID: "b", Title: "edited", After: []string{"a"}}, {Title: "new"}},
		}
		r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
			tasks := answers[len(r.asked)-1]
			return agent.Verdict{
				Outcome: protocol.Allowed, Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Tasks: tasks},
			}, nil
		}
		if _, err := r.send(t.Context(), "do it"); err != nil {
			t.Fatal(err)
		}
		if len(r.asked) != 2 || !strings.Contains(r.asked[1].Why, "cycle") {
			t.Errorf("asked %+v", r.asked)
		}
		p := r.state().Plan
		first := p.Tasks[0]
		if got := r.statuses(); got != "b completed, 2 completed" || first.Title != "edited" || first.After != nil {
			t.Errorf("%s: %+v", got, p.Tasks)
		}
	})
}

func TestADeniedPlanIsCancelledOrMadeAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned("a"))
		r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
			return agent.Verdict{
				Outcome: protocol.Denied, Decision: protocol.Deny, Reason: "too small",
				Input: &protocol.ApprovalInput{Replan: len(r.asked) == 1},
			}, nil
		}
		end, err := r.send(t.Context(), "do it")
		if err != nil || end.Reason != "" {
			t.Fatal(end, err)
		}
		want := []string{"plan.started", "plan.updated", "plan.started", "plan.updated", "plan.cancelled"}
		if got := r.stages(); !slices.Equal(got, want) || !strings.Contains(r.prompts[1], "too small") {
			t.Errorf("%q, prompt %q", got, r.prompts[1])
		}
	})
}

func TestWithoutConfirmationNobodyIsAsked(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned("a"))
		no := false
		r.options.Config.Confirm = &no
		if _, err := r.send(t.Context(), "do it"); err != nil || len(r.asked) != 0 {
			t.Error(err, r.asked)
		}
	})
}

func TestATaskThatFailsSkipsItsDependentsOnly(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned("a", "b<a", "c<b", "d"))
		good := r.act
		r.act = func(ctx context.Context, s *step) (agent.End, error) {
			if s.task == "task a" {
				s.use(10, 5)
				return agent.End{}, protocol.Errorf(protocol.CodeTimeout, "no answer")
			}
			return good(ctx, s)
		}
		if end, err := r.send(t.Context(), "do it"); err != nil || end.Usage.Input != 10 {
			t.Fatal(end, err)
		}
		if got := r.statuses(); got != "a failed, b cancelled, c cancelled, d completed" {
			t.Error(got)
		}
		ends := r.taskEnds()
		if e := ends["a"]; e.Code != protocol.CodeTimeout || e.Usage.Output != 5 || e.Calls != 1 {
			t.Errorf("%+v", e)
		}
		if e := ends["b"]; e.Message != "task a was not completed" {
			t.Errorf("%+v", e)
		}
		p := r.prompts[len(r.prompts)-1]
		for _, want := range []string{"task a (failed)", "no answer", "task b (cancelled)", "result of task d"} {
			if !strings.Contains(p, want) {
				t.Errorf("the aggregator did not get %q: %s", want, p)
			}
		}
	})
}

func TestATurnWithoutACompletedTaskFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned("a"))
		good := r.act
		r.act = func(ctx context.Context, s *step) (agent.End, error) {
			if s.role == "solver" {
				return agent.End{Reason: protocol.ReasonRefusal, Message: "no"}, nil
			}
			return good(ctx, s)
		}
		_, err := r.send(t.Context(), "do it")
		if protocol.CodeOf(err) != protocol.CodeAgentFailed || !strings.Contains(err.Error(), "refusal. no") {
			t.Error(err)
		}
		if p := r.state().Plan; p.Status != protocol.StatusFailed {
			t.Error(p.Status)
		}
	})
}

// The planner, a task or the aggregator fails at a usage limit.
func TestAUsageLimitOfAStageEndsTheTurnAtTheLimit(t *testing.T) {
	for role, tookIn := range map[string]bool{"planner": false, "solver": true, "aggregator": true} {
		inBubble(t, func(t *testing.T) {
			r := newRig(t, planned("a"))
			good, resets := r.act, time.Now().Add(time.Hour)
			r.act = func(ctx context.Context, s *step) (agent.End, error) {
				if s.role == role {
					l := agent.LimitError{Message: "used up", Limit: agent.Limit{ResetsAt: resets}}
					return l.End(), nil
				}
				return good(ctx, s)
			}
			_, err := r.send(t.Context(), "do it")
			var l *agent.LimitError
			if !errors.As(err, &l) || !l.ResetsAt.Equal(resets) || l.TookIn != tookIn || !strings.Contains(l.Message, "used up") {
				t.Errorf("%s: %v", role, err)
			}
			if e := r.taskEnds()["a"]; role == "solver" && e.Code != protocol.CodeLimited {
				t.Errorf("%+v", e)
			}
		})
	}
}

// startedRig runs tasks that wait for an hour, in the background.
func startedRig(t *testing.T, tasks ...string) (r *rig, ended chan error, stop context.CancelFunc) {
	t.Helper()
	r = newRig(t, planned(tasks...))
	good := r.act
	r.act = func(ctx context.Context, s *step) (agent.End, error) {
		if s.role == "solver" {
			_ = s.out.Emit(agent.Event{
				Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "wait", Name: "wait"},
			})
			if err := wait(ctx, time.Hour); err != nil {
				return agent.End{Reason: protocol.ReasonInterrupted}, nil
			}
		}
		return good(ctx, s)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended = make(chan error, 1)
	r.open()
	go func() {
		_, err := r.send(ctx, "do it")
		ended <- err
	}()
	synctest.Wait()
	return r, ended, stop
}

func TestOneTaskIsCancelledAndAnotherRestartedWhileOthersRun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, ended, stop := startedRig(t, "a", "b", "c", "d<b")
		defer stop()
		if err := r.agent.CancelTask(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := r.statuses(); got != "a running, b cancelled, c running, d cancelled" {
			t.Fatal(got)
		}
		for task, code := range map[string]protocol.Code{"b": protocol.CodeNotFound, "x": protocol.CodeNotFound} {
			if err := r.agent.CancelTask(t.Context(), task); protocol.CodeOf(err) != code {
				t.Errorf("cancel %s: %v", task, err)
			}
		}
		time.Sleep(time.Minute)
		for _, task := range []string{"b", "c"} {
			if err := r.agent.RestartTask(t.Context(), task); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if got := r.statuses(); got != "a completed, b completed, c completed, d completed" {
			t.Error(got)
		}
		ends := r.taskEnds()
		if c := ends["c"]; c.Attempt != 2 || c.DurationMS != time.Hour.Milliseconds() {
			t.Errorf("%+v", c)
		}
		if d := ends["d"]; d.Attempt != 1 {
			t.Errorf("%+v", d)
		}
		if s := r.state(); len(s.Turn.Tools) != 0 || len(s.Turn.Parts) != 0 {
			t.Errorf("open: %+v", s.Turn)
		}
		if err := r.agent.RestartTask(t.Context(), "a"); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("restart after the turn: %v", err)
		}
	})
}

func TestTheLastOfTwoActionsOnATaskDecides(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned("a", "b", "c"))
		good := r.act
		r.act = func(ctx context.Context, s *step) (agent.End, error) {
			if s.role == "solver" && s.task != "task c" && r.taskEnds()[s.task[5:]].Attempt == 1 {
				<-ctx.Done()
				time.Sleep(time.Second) // it does not stop immediately
				return agent.End{}, ctx.Err()
			}
			return good(ctx, s)
		}
		r.open()
		answers := make(chan error, 4)
		time.AfterFunc(time.Minute, func() {
			for _, act := range []func() error{
				func() error { return r.agent.RestartTask(t.Context(), "a") },
				func() error { return r.agent.CancelTask(t.Context(), "b") },
			} {
				go func() { answers <- act() }()
			}
		})
		time.AfterFunc(time.Minute+time.Millisecond, func() {
			for _, act := range []func() error{
				func() error { return r.agent.CancelTask(t.Context(), "a") },
				func() error { return r.agent.RestartTask(t.Context(), "b") },
			} {
				go func() { answers <- act() }()
			}
		})
		if _, err := r.send(t.Context(), "do it"); err != nil {
			t.Fatal(err)
		}
		if got := r.statuses(); got != "a cancelled, b completed, c completed" {
			t.Error(got)
		}
		for range 4 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestAnInterruptKeepsResultsAndAPlanGoesOnWithThem(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, ended, stop := startedRig(t, "a", "b<a", "c<b")
		time.Sleep(90 * time.Minute)
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if got := r.statuses(); got != "a completed, b cancelled, c pending" {
			t.Fatal(got)
		}
		tasks := r.state().Plan.Tasks
		r.open() // as after a restart of the server
		r.events = nil
		if _, err := r.plan(t.Context(), tasks...); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(r.stages(), "\n")
		if strings.Contains(got, "task.started a") || r.statuses() != "a completed, b completed, c completed" {
			t.Errorf("%s\n%s", got, r.statuses())
		}
		told := r.prompts[len(r.prompts)-3]
		if !strings.Contains(told, "result of task a") || !strings.Contains(told, "look before you") {
			t.Errorf("the solver of b got %q", told)
		}
	})
}

func TestAnInvalidGivenPlanIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned())
		_, err := r.plan(t.Context(), protocol.Task{ID: "a", Title: "x", After: []string{"z"}})
		if protocol.CodeOf(err) != protocol.CodeInvalidMessage ||
			!strings.Contains(err.Error(), `"z", which does not exist`) {
			t.Error(err)
		}
	})
}

func TestARequestOfASolverNamesItsTask(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned("a"))
		good := r.act
		r.act = func(ctx context.Context, s *step) (agent.End, error) {
			if s.role == "solver" && s.turn == 1 {
				v, err := s.out.Ask(ctx, protocol.Approval{
					Request: "1", Kind: protocol.ApproveCommand, Title: "run it", Command: "make", Tool: "tool",
					Why: "needed",
				})
				s.say(string(v.Outcome))
				return agent.End{}, err
			}
			if s.role == "solver" {
				s.say("then: " + s.text)
				return agent.End{}, nil
			}
			return good(ctx, s)
		}
		r.decide = func(_ context.Context, a protocol.Approval) (agent.Verdict, error) {
			if a.Kind == protocol.ApprovePlan {
				return agent.Verdict{Outcome: protocol.Allowed}, nil
			}
			return agent.Verdict{Outcome: protocol.Denied, Decision: protocol.Deny, Reason: "use ninja"}, nil
		}
		if _, err := r.send(t.Context(), "do it"); err != nil {
			t.Fatal(err)
		}
		a := r.asked[1]
		if a.Task != "a" || a.Why != "Task: task a\nneeded" || a.Request != "t1/a.1/1" || a.Tool != "t1/a.1/tool" {
			t.Errorf("%+v", a)
		}
		// The agent takes no reason with a decision: it follows as a message.
		if got := r.taskEnds()["a"].Result; got != "then: use ninja" {
			t.Error(got)
		}
	})
}

func TestLimitsEndATaskOrTheTurn(t *testing.T) {
	for _, test := range []struct {
		name   string
		limits func(c *Config)
		end    protocol.Reason
		failed string // of task a
	}{
		{
			"time of a task", func(c *Config) { c.Limits.Task.Time = Duration(time.Minute) }, "",
			"the time of the task is 1m0s",
		},
		{"tokens of a task", func(c *Config) { c.Limits.Task.Tokens = 14 }, "", "the limit of the task is 14 tokens"},
		{"calls of a task", func(c *Config) { c.Limits.Task.Calls = 1 }, "", "the limit of the task is 1 calls"},
		{
			"time of the turn", func(c *Config) { c.Limits.Turn.Time = Duration(time.Minute) },
			protocol.ReasonTimeout, "",
		},
		{"cost of the turn", func(c *Config) { c.Limits.Turn.Cost = 0.25 }, protocol.ReasonBudget, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newRig(t, planned("a", "b"))
				test.limits(&r.options.Config)
				good := r.act
				r.act = func(ctx context.Context, s *step) (agent.End, error) {
					if s.task == "task a" {
						s.use(5, 5)
						s.use(10, 5)
						if err := wait(ctx, time.Hour); err != nil {
							return agent.End{}, err
						}
					}
					return good(ctx, s)
				}
				r.decide = func(ctx context.Context, _ protocol.Approval) (agent.Verdict, error) {
					return agent.Verdict{Outcome: protocol.Allowed}, wait(ctx, 24*time.Hour) // does not count
				}
				end, err := r.send(t.Context(), "do it")
				if err != nil || end.Reason != test.end {
					t.Fatal(end, err)
				}
				if test.failed == "" {
					return
				}
				if r.taskEnds()["a"].Message != test.failed || r.statuses() != "a failed, b completed" {
					t.Errorf("%s: %+v", r.statuses(), r.taskEnds())
				}
			})
		})
	}
}

func TestCloseEndsAgentsThatRun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, ended, stop := startedRig(t, "a", "b")
		defer stop()
		if err := r.agent.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, errClosed) {
			t.Error(err)
		}
		if _, err := r.send(t.Context(), "again"); protocol.CodeOf(err) != protocol.CodeShuttingDown {
			t.Error(err)
		}
	})
}

func TestAPlanThatWasInterruptedIsCancelled(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(ctx context.Context, s *step) (agent.End, error) {
			s.say("I think")
			return agent.End{}, wait(ctx, time.Hour)
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		end, err := r.send(ctx, "do it")
		if err != nil || end.Reason != protocol.ReasonInterrupted {
			t.Fatal(end, err)
		}
		s := r.state()
		if s.Plan.Status != protocol.StatusCancelled || len(s.Turn.Parts) != 0 {
			t.Errorf("%+v, open %+v", s.Plan, s.Turn.Parts)
		}
	})
}

func TestAnAgentThatCannotBeOpenedFailsItsStage(t *testing.T) {
	for _, missing := range []string{"planner", "solver"} {
		inBubble(t, func(t *testing.T) {
			r := newRig(t, planned("a"))
			open := r.options.Open
			r.options.Open = func(spec agent.Spec, host agent.Host) (agent.Agent, error) {
				if spec.Agent == missing {
					return nil, protocol.Errorf(protocol.CodeAgentAuth, "no key")
				}
				return open(spec, host)
			}
			_, err := r.send(t.Context(), "do it")
			if err == nil || !strings.Contains(err.Error(), "open the "+missing+": no key") {
				t.Error(err)
			}
			if missing == "planner" && protocol.CodeOf(err) != protocol.CodeAgentAuth {
				t.Error(protocol.CodeOf(err))
			}
			if p := r.state().Plan; p.Status != protocol.StatusFailed {
				t.Error(p.Status)
			}
		})
	}
}

func TestEventsOfASolverAreThoseOfItsTask(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned("a"))
		good := r.act
		r.act = func(ctx context.Context, s *step) (agent.End, error) {
			if s.role != "solver" {
				return good(ctx, s)
			}
			for _, e := range []agent.Event{
				{Type: protocol.ReasoningDelta, Data: protocol.PartDeltaData{Part: "r", Text: "hm"}},
				{Type: protocol.TextDelta, Data: &protocol.PartDeltaData{Part: "p", Text: "about the work"}},
				{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "1", Name: "read"}},
				{Type: protocol.ToolOutput, Data: protocol.ToolOutputData{Tool: "1", Text: "out"}, Parent: "0"},
				{Type: protocol.ToolEnded, Data: protocol.ToolEndedData{Tool: "1", Status: protocol.ToolCompleted}},
				{Type: protocol.PlanUpdated, Data: protocol.PlanTasksData{Tasks: []protocol.Task{
					{Title: "look", Status: protocol.StatusCompleted}, {Title: "write", Status: protocol.StatusRunning},
				}}},
				{Type: protocol.PlanCompleted, Data: protocol.PlanTasksData{}},
				{Type: protocol.ContextUpdated, Data: protocol.ContextInfo{Tokens: 3}},
				{Type: protocol.AgentOptions, Data: protocol.Options{Name: "other"}},
				{Type: protocol.Notice, Data: protocol.NoticeData{Message: "note"}},
				{Type: protocol.TaskStarted, Data: protocol.TaskData{Task: "inside"}},
				{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "q", Text: "the result"}},
			} {
				if err := s.out.Emit(e); err != nil {
					t.Errorf("%s: %v", e.Type, err)
				}
			}
			return agent.End{Usage: &protocol.Usage{Input: 7, Model: "m"}}, nil
		}
		if _, err := r.send(t.Context(), "do it"); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range r.events {
			if e.Task == "" {
				continue
			}
			line := string(e.Type)
			switch d := e.Data.(type) {
			case protocol.PartDeltaData:
				line += " " + d.Part
			case protocol.ToolOutputData:
				line += " " + d.Tool + " in " + e.Parent
			case protocol.TaskData:
				line += " " + d.Message + d.Result
			}
			got = append(got, line)
		}
		want := []string{
			"task.started ", "reasoning.delta t1/a.1/r", "text.delta t1/a.1/p", "tool.started",
			"tool.output t1/a.1/1 in t1/a.1/0", "tool.ended", "task.progress 1 of 2 steps done. write", "notice",
			"text.delta t1/a.1/q", "reasoning.end", "text.end", "text.end", "task.completed the result",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if e := r.taskEnds()["a"]; e.Usage.Input != 7 || e.Calls != 1 || e.Usage.Model != "m" {
			t.Errorf("%+v", e)
		}
	})
}

func TestTheAgentThatAskedExplains(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned("a"))
		r.explain = func(a protocol.Approval) string { return "about " + a.Request + " of " + a.Tool }
		good := r.act
		r.act = func(ctx context.Context, s *step) (agent.End, error) {
			switch {
			case s.text == explainPrompt:
				s.say("These tasks are needed.")
				return agent.End{}, nil
			case s.role == "solver":
				_, err := s.out.Ask(ctx, protocol.Approval{Request: "1", Tool: "2", Kind: protocol.ApproveTool})
				return agent.End{}, err
			}
			return good(ctx, s)
		}
		var explained []string
		r.decide = func(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
			text, err := explainer{r.agent}.Explain(ctx, a)
			if err != nil {
				t.Error(err)
			}
			explained = append(explained, text)
			return agent.Verdict{Outcome: protocol.Allowed}, nil
		}
		if _, err := r.send(t.Context(), "do it"); err != nil {
			t.Fatal(err)
		}
		if want := []string{"These tasks are needed.", "about 1 of 2"}; !slices.Equal(explained, want) {
			t.Errorf("explained %q, want %q", explained, want)
		}
		for _, e := range r.events {
			if d, ok := e.Data.(protocol.PartDeltaData); ok && strings.Contains(d.Text, "These tasks") {
				t.Error("the explanation is shown as text")
			}
		}
		_, err := explainer{r.agent}.Explain(t.Context(), r.asked[1])
		if protocol.CodeOf(err) != protocol.CodeUnsupported {
			t.Error(err)
		}
	})
}

func TestTheStateIsBounded(t *testing.T) {
	p, tasks := &plan{question: strings.Repeat("\x01", 1<<20)}, []*task{}
	for range maxTasks {
		tasks = append(tasks, &task{result: strings.Repeat("\x01", 1<<16), failure: strings.Repeat("\x01", 1<<16)})
	}
	s := new(state)
	s.setPlan(p, tasks)
	if b := s.encode(); len(b) > 1<<20 {
		t.Errorf("%d bytes", len(b))
	}
	if _, err := decodeState([]byte("{")); protocol.CodeOf(err) != protocol.CodeInvalidState {
		t.Error(err)
	}
}
