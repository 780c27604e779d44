package llm

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent"
)

// task is the input of a call of the tool task.
func task(title, prompt string) map[string]any {
	return map[string]any{"title": title, "prompt": prompt}
}

// isTask reports whether a request is of a sub-agent.
func isTask(r *fakemodel.Request) bool {
	return strings.Contains(string(r.Body), "one task for another agent")
}

// byAgent scripts the agent and its sub-agents.
func byAgent(agent, sub fakemodel.Script) fakemodel.Script {
	return func(ctx context.Context, r fakemodel.Request, out *fakemodel.Reply) {
		if isTask(&r) {
			sub(ctx, r, out)
			return
		}
		agent(ctx, r, out)
	}
}

// A sub-agent has its own conversation. Its calls are below the task's call, request approval as
// such, and count for the session.
func TestATaskRunsInAContextOfItsOwn(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		calls := 0
		r := newRig(t, api, name, byAgent(fakemodel.Turns(
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
				out.Call("task", task("find it", "Find the bug."))
			},
			func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
				result, _ := r.ToolResult()
				out.Text("It says: " + result)
			}), func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
			if calls++; calls == 1 {
				if r.Offers("task") || !r.Offers("shell") || strings.Contains(string(r.Body), "secret of the user") {
					t.Errorf("the sub-agent got %s", r.Body)
				}
				out.Reasoning("hm")
				out.Text("I look.")
				out.Call("shell", x("grep bug"))
				return
			}
			out.Text("It is in main.go.")
		}), echo("shell"))
		r.decide = func(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
			before := len(r.fake.Requests())
			if why, err := r.agent.Explain(ctx, a); err != nil || why == "" {
				t.Errorf("explanation %q, %v", why, err)
			}
			if q := r.fake.Requests()[before]; !isTask(&q) {
				t.Error("the agent explains a call of its sub-agent")
			}
			calls = 1
			return agent.Verdict{Outcome: protocol.Allowed, Decision: protocol.AllowOnce}, nil
		}
		end, err := r.send(t.Context(), "secret of the user")
		if err != nil || end.Reason != protocol.ReasonCompleted {
			t.Fatalf("%+v, %v\n%s", end, err, r.lines())
		}
		if texts := r.texts(); len(texts) != 1 || !strings.Contains(texts[0], "It is in main.go.") {
			t.Errorf("texts %q", texts)
		}
		if len(r.asked) != 1 || r.asked[0].Why != "for the task find it" || r.asked[0].Command != "grep bug" {
			t.Fatalf("asked %+v", r.asked)
		}
		shown, usage := "", protocol.Usage{}
		for _, e := range r.events {
			switch d := e.Data.(type) {
			case protocol.ToolStartedData:
				if below := d.Name == "shell"; below != (e.Parent != "") {
					t.Errorf("%s is below %q", d.Name, e.Parent)
				}
			case protocol.ToolOutputData:
				if e.Parent == "" {
					shown += d.Text
				}
			case protocol.Usage:
				usage = d
			}
		}
		if shown != "I look.\nIt is in main.go.\n" {
			t.Errorf("shown of the task: %q", shown)
		}
		s, err := decodeState(r.state)
		if err != nil || s.Requests != 5 || s.Usage != usage || end.Usage == nil || *end.Usage != usage {
			t.Errorf("%d requests, usage %+v, of the turn %+v, emitted %+v", s.Requests, s.Usage, end.Usage, usage)
		}
		if got := r.results(); !slices.Equal(got, []string{"completed", "completed"}) {
			t.Errorf("results %q", got)
		}
	})
}

// waits scripts a sub-agent whose answer waits until done is closed, and counts the running ones.
func waits(running, most *atomic.Int32, done <-chan struct{}) fakemodel.Script {
	return func(ctx context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
		for n := running.Add(1); n > most.Load(); {
			most.Store(n)
		}
		defer running.Add(-1)
		select {
		case <-done:
			out.Text("done")
		case <-ctx.Done():
		}
	}
}

func TestTasksAtTheSameTimeAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		done := make(chan struct{})
		r := newRig(t, "chat", "qwen", byAgent(fakemodel.Turns(
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
				for _, title := range []string{"a", "b", "c", "d", "e", "f"} {
					out.Call("task", task(title, title))
				}
			}, fakemodel.Say("all done")), waits(&running, &most, done)), echo("shell"))
		var ended sync.WaitGroup
		ended.Go(func() {
			if _, err := r.send(t.Context(), "go"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if n := running.Load(); n != maxTasks {
			t.Errorf("%d run", n)
		}
		close(done)
		ended.Wait()
		if got := r.results(); len(got) != 6 || most.Load() != maxTasks {
			t.Errorf("results %q, at most %d", got, most.Load())
		}
	})
}

func TestAnInterruptEndsTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		r := newRig(t, "chat", "qwen", byAgent(
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
				out.Call("task", task("a", "a"))
				out.Call("task", task("b", "b"))
			}, waits(&running, &most, nil)), echo("shell"))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		end, err := r.send(ctx, "go")
		if err != nil || end.Reason != protocol.ReasonInterrupted {
			t.Errorf("%+v, %v", end, err)
		}
		synctest.Wait()
		if running.Load() != 0 || !slices.Equal(r.results(), []string{"cancelled", "cancelled"}) {
			t.Errorf("%d run, results %q", running.Load(), r.results())
		}
		r.agent.tasks.byCall.Range(func(call, _ any) bool { t.Errorf("the task of %s is kept", call); return true })
	})
}

// A task ends at its own budget or at the turn's.
func TestTasksHaveBudgets(t *testing.T) {
	for name, c := range map[string]struct {
		set    func(*Config)
		result string // that the model gets
		end    protocol.Reason
	}{
		"of the task": {
			func(c *Config) { c.Tasks.Budget.Requests = 2 },
			"the task ended early (max_requests): the budget of the turn is 2 requests", protocol.ReasonCompleted,
		},
		"of the turn": {
			func(c *Config) { c.Budget.Turn.Requests = 3 }, "", protocol.ReasonMaxRequests,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				result := ""
				r := newRig(t, "chat", "qwen", byAgent(fakemodel.Turns(
					func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
						out.Call("task", task("a", "a"))
					},
					func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
						result, _ = r.ToolResult()
						out.Text("ok")
					}), func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
					out.Call("shell", x(time.Now().String()))
					time.Sleep(time.Second) // each call is another
				}), echo("shell"))
				c.set(&r.opts.Config)
				r.open(nil)
				end, err := r.send(t.Context(), "go")
				if err != nil || end.Reason != c.end || !strings.Contains(result, c.result) {
					t.Errorf("%+v, %v, result %q", end, err, result)
				}
				if n := len(r.fake.Requests()); n > 4 {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

func TestDenyAndStopOfATaskEndsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "chat", "qwen", byAgent(
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
				out.Call("task", task("a", "a"))
			},
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) { out.Call("shell", x("rm")) },
		), echo("shell"))
		r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
			return agent.Verdict{Outcome: protocol.Denied, Decision: protocol.DenyStop, Reason: "enough"}, nil
		}
		end, err := r.send(t.Context(), "go")
		if err != nil || end.Reason != protocol.ReasonDenied || len(r.fake.Requests()) != 2 {
			t.Errorf("%+v, %v, %d requests", end, err, len(r.fake.Requests()))
		}
	})
}

// A task does not outlive the server: it is not started again, its calls end, and the request that
// waited is withdrawn.
func TestATaskIsUnknownAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "chat", "qwen", byAgent(fakemodel.Turns(
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
				out.Call("task", task("a", "a"))
			},
			func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
				if result, _ := r.ToolResult(); result != unknownText {
					t.Errorf("the model got %q", result)
				}
				out.Text("on")
			}), func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Call("shell", x("ls"))
		}), echo("shell"))
		var state []byte
		ctx, kill := context.WithCancel(t.Context())
		r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
			state = r.state
			kill()
			return agent.Verdict{}, context.Canceled
		}
		if _, err := r.send(ctx, "go"); err != nil {
			t.Fatal(err)
		}
		r.open(state)
		r.events, r.asked = nil, nil
		withdrawn := ""
		r.decide = func(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
			if ctx.Err() != nil {
				withdrawn += a.Request
			}
			return agent.Verdict{}, ctx.Err()
		}
		turn := agent.Turn{ID: "t1", Message: protocol.Message{Text: "go"}, Resumed: true}
		end, err := r.agent.Run(t.Context(), turn, r.recorder)
		if err != nil || end.Reason != protocol.ReasonCompleted {
			t.Fatalf("%+v, %v", end, err)
		}
		if got := r.results(); !slices.Equal(got, []string{"cancelled", "unknown"}) || withdrawn != "t1.1.0.1.0" {
			t.Errorf("results %q, withdrawn %q\n%s", got, withdrawn, r.lines())
		}
	})
}

func TestATaskThatOnlyReadsGetsNoOtherTools(t *testing.T) {
	b := &taskToolbox{&fakeToolbox{tools: []toolMaker{echo("shell"), &fakeTool{name: "todo", kind: protocol.ToolThink}}}, false}
	if len(b.Tools()) != 1 {
		t.Errorf("%d tools", len(b.Tools()))
	}
	if b.readOnly = true; len(b.Tools()) != 0 {
		t.Errorf("%d tools", len(b.Tools()))
	}
}
