package pipeline

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/provider"
)

var errKilled = errors.New("the server was killed")

// A life is one process of the server: it is killed after a number of records.
type life struct {
	*rig

	mu    sync.Mutex
	dead  bool
	left  int // records; negative: all
	die   context.CancelFunc
	asked map[string]int // of all lives
}

// record carries out a record unless the process was killed.
func (l *life) record(do func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return errKilled
	}
	if l.left--; l.left == 0 {
		defer l.kill()
	}
	return do()
}

func (l *life) kill() { l.dead = true; l.die() }

func (l *life) Emit(e agent.Event) error {
	return l.record(func() error { return l.rig.Emit(e) })
}

func (l *life) Save(b []byte) error {
	return l.record(func() error { return l.rig.Save(b) })
}

func (l *life) Sync(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return errKilled
	}
	return nil
}

func (l *life) Ask(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
	if err := l.record(func() error { l.asked[a.Request]++; return nil }); err != nil {
		return agent.Verdict{}, err
	}
	if err := l.Sync(ctx); err != nil {
		return agent.Verdict{}, err
	}
	return agent.Verdict{Outcome: protocol.Allowed, Decision: protocol.AllowOnce}, nil
}

// A workTool counts its effects. Each changes the same file.
type workTool struct {
	run func(ctx context.Context, work string)
}

type workArguments struct {
	X string `json:"x,omitempty"`
}

func (w *workTool) Notes(int) []llm.Note                             { return nil }
func (w *workTool) Recall([]llm.SeenFile)                            {}
func (w *workTool) Undo(string) (restored, kept []string, err error) { return nil, nil, nil }
func (w *workTool) Close() error                                     { return nil }
func (w *workTool) Tools() []llm.Tool {
	return []llm.Tool{llm.NewTool(llm.Tool{Name: "work", Kind: protocol.ToolEdit, About: "works"}, w.check)}
}

func (w *workTool) check(_ context.Context, _ *llm.ToolCall, in workArguments) (llm.Preview, error) {
	return llm.Preview{
		Title: "work", Locations: []protocol.Location{{Path: "f"}},
		Request: protocol.Approval{Kind: protocol.ApproveCommand, Command: "work"},
		Run: func(ctx context.Context, out func(string)) (llm.ToolResult, error) {
			w.run(ctx, in.X)
			out("live")
			return llm.ToolResult{Text: "done " + in.X}, ctx.Err()
		},
	}, nil
}

// A continuing is a pipeline with llm agents over several processes of the server.
type continuing struct {
	*rig
	life    *life
	model   *fakemodel.Handler
	asked   map[string]int
	effects map[string]int
	padding string                                 // of each task's first answer
	inTool  func(ctx context.Context, task string) // nil: nothing
	inText  func(ctx context.Context, task string) // nil: nothing
	calling func(ctx context.Context, task string) // before the call of a task
	mu      sync.Mutex
}

func newContinuing(t *testing.T) *continuing {
	c := &continuing{asked: map[string]int{}, effects: map[string]int{}}
	c.rig = newRig(t, nil)
	c.rig.options.Config = Config{Solver: "worker"}
	c.model = fakemodel.New(c.answer)
	set := provider.Set{"test": {
		API: "chat", BaseURL: "https://model.example/v1", KeyEnv: "KEY",
		Models: map[string]provider.ModelConfig{"m": {Window: 2_000_000, Price: &model.Price{Input: 1, Output: 2}}},
	}}
	c.rig.options.Open = func(spec agent.Spec, host agent.Host) (agent.Agent, error) {
		return llm.New(llm.Options{
			Name: "worker", Config: llm.Config{Model: "test/m"},
			Open: func(_ context.Context, name string) (model.Backend, error) {
				ref, err := set.Parse(name)
				if err != nil {
					return model.Backend{}, err
				}
				return set.Open(ref, &provider.Keys{Base: c.model, Env: func(string) string { return "sk-0123456789abcdef" }})
			},
			Toolbox: func(agent.Spec, agent.Host) (llm.Toolbox, error) {
				return &workTool{func(ctx context.Context, task string) {
					c.mu.Lock()
					c.effects[task]++
					in := c.inTool
					c.mu.Unlock()
					if in != nil {
						in(ctx, task)
					}
				}}, nil
			},
		}, spec, host)
	}
	return c
}

// answer is the model: a task is four words, a call and four words; the aggregate names the results.
func (c *continuing) answer(ctx context.Context, r fakemodel.Request, out *fakemodel.Reply) {
	task, text, said, calls := "", "", "", false
	for _, m := range r.Messages {
		switch {
		case m.Role == fakemodel.User && strings.Contains(m.Text, "A request was divided"):
			text = "the results are"
			for _, result := range []string{"a5 a6 a7 a8", "b5 b6 b7 b8"} {
				if strings.Contains(m.Text, result) {
					text += " " + result
				}
			}
		case m.Role == fakemodel.User && task == "" && strings.Contains(m.Text, "Your task: task "):
			_, of, _ := strings.Cut(m.Text, "Your task: task ")
			task, calls = of[:1], true
			text = strings.ReplaceAll("X1 X2 X3 X4 ", "X", task) + c.padding
		case m.Role == fakemodel.Tool:
			calls, said, text = false, "", strings.ReplaceAll("X5 X6 X7 X8", "X", task)
		case m.Role == fakemodel.Assistant && m.Call == "":
			said += m.Text
		}
	}
	rest, ok := strings.CutPrefix(text, said)
	if !ok {
		rest = fmt.Sprintf("[the model cannot continue %q]", said)
	}
	for i, word := range strings.SplitAfter(rest, " ") {
		if word != "" {
			out.Text(word)
		}
		if c.mu.Lock(); i == 1 && calls && c.inText != nil {
			in := c.inText
			c.mu.Unlock()
			in(ctx, task)
			continue
		}
		c.mu.Unlock()
	}
	if calls {
		if c.calling != nil {
			c.calling(ctx, task)
		}
		out.Call("work", map[string]string{"x": task})
	}
}

// shownTexts returns the texts of the log, as the session reads them.
func (c *continuing) shownTexts() (all []agent.ShownText) {
	c.rig.mu.Lock()
	defer c.rig.mu.Unlock()
	for _, e := range c.events {
		switch d := e.Data.(type) {
		case protocol.PartStartData:
			kind := protocol.KindText
			if e.Type == protocol.ReasoningStart {
				kind = protocol.KindReasoning
			}
			all = append(all, agent.ShownText{Part: d.Part, Kind: kind, Open: true})
		case protocol.PartDeltaData:
			for i := range all {
				if all[i].Part == d.Part {
					all[i].Text += d.Text
				}
			}
		case protocol.PartEndData:
			for i := range all {
				if all[i].Part == d.Part {
					all[i].Open = false
				}
			}
		}
	}
	return all
}

// live runs the turn until it ends or the process is killed, after a number of records.
func (c *continuing) live(resumed bool, records int) (end agent.End, killed bool, err error) {
	c.t.Helper()
	ctx, die := context.WithCancel(c.t.Context())
	defer die()
	c.life = &life{rig: c.rig, left: records, die: die, asked: c.asked}
	a, err := New(c.options, agent.Spec{Session: "s", CWD: "/work", State: c.saved}, c.life)
	if err != nil {
		c.t.Fatal(err)
	}
	if !a.Capabilities().Resumes {
		c.t.Fatal("the pipeline does not resume")
	}
	end, err = a.Run(ctx, agent.Turn{
		ID: "t1", Message: protocol.Message{Text: "run"}, Resumed: resumed, Shown: c.shownTexts(),
		Plan: &protocol.PlanRunData{Question: "why", Tasks: []protocol.Task{
			{ID: "a", Title: "task a"}, {ID: "b", Title: "task b"},
		}},
	}, c.life)
	if failed := a.Close(); failed != nil {
		c.t.Error(failed)
	}
	c.life.mu.Lock()
	defer c.life.mu.Unlock()
	return end, c.life.dead, err
}

// check checks that the turn has the same result as without a kill.
func (c *continuing) check(when string, end agent.End, err error) {
	c.t.Helper()
	if err != nil || end.Reason != "" {
		c.t.Fatalf("%s: %+v, %v", when, end, err)
	}
	texts := map[string]string{}
	for _, s := range c.shownTexts() {
		if s.Open {
			c.t.Errorf("%s: the part %s is open", when, s.Part)
		}
		texts[strings.Split(s.Part, "/")[1]] += s.Text
	}
	want := map[string]string{
		"a.1": "a1 a2 a3 a4 " + c.padding + "a5 a6 a7 a8", "b.1": "b1 b2 b3 b4 " + c.padding + "b5 b6 b7 b8",
		"aggregate": "the results are a5 a6 a7 a8 b5 b6 b7 b8",
	}
	if !maps.Equal(texts, want) {
		c.t.Errorf("%s: texts %q", when, texts)
	}
	starts, ends, changed := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, e := range c.events {
		if d, ok := e.Data.(protocol.ToolEndedData); ok && d.Status == protocol.ToolCompleted {
			changed[e.Task] = true
		}
		if d, ok := e.Data.(protocol.TaskData); ok && e.Type == protocol.TaskStarted {
			starts[d.Task]++
		} else if ok && e.Type == protocol.TaskCompleted {
			if ends[d.Task]++; d.Result != strings.ReplaceAll("X5 X6 X7 X8", "X", d.Task) {
				c.t.Errorf("%s: %+v", when, d)
			}
		}
	}
	once := map[string]int{"a": 1, "b": 1}
	if !maps.Equal(starts, once) || !maps.Equal(ends, once) || len(c.asked) != 2 {
		c.t.Errorf("%s: starts %v, ends %v, asked %v", when, starts, ends, c.asked)
	}
	if _, conflicts := c.conflicts(); len(changed) == 2 && len(conflicts) == 0 {
		c.t.Errorf("%s: changed by %v, conflicts %v", when, changed, conflicts)
	}
	for task, n := range c.effects {
		if n > 1 {
			c.t.Errorf("%s: task %s had %d effects", when, task, n)
		}
	}
	if got := c.state().Plan; got.Status != protocol.StatusCompleted {
		c.t.Errorf("%s: plan %+v", when, got)
	}
}

// The server is killed in a call of one solver and in a text of the other. Both continue.
func TestSolversContinueAfterAKill(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newContinuing(t)
		block := func(of string) func(ctx context.Context, task string) {
			return func(ctx context.Context, task string) {
				if task == of {
					<-ctx.Done()
				}
			}
		}
		c.inTool, c.inText = block("a"), block("b")
		go func() {
			synctest.Wait()
			c.life.mu.Lock()
			defer c.life.mu.Unlock()
			c.life.kill()
		}()
		if _, killed, _ := c.live(false, -1); !killed || !maps.Equal(c.effects, map[string]int{"a": 1}) {
			t.Fatalf("killed %v, effects %v", killed, c.effects)
		}
		c.inTool, c.inText = nil, nil
		end, _, err := c.live(true, -1)
		c.check("after a kill", end, err)
		if c.effects["a"] != 1 || c.effects["b"] != 1 {
			t.Errorf("effects %v", c.effects)
		}
		for task, d := range c.taskEnds() {
			if d.Calls != 2 { // a call of a before the restart counts; a cut one of b reported nothing
				t.Errorf("task %s: %d calls", task, d.Calls)
			}
		}
		if n := len(c.model.Requests()); n != 6 { // of b two, of which one was cut; one each after the calls
			t.Errorf("%d requests", n)
		}
		if end.Usage == nil || end.Usage.Output == 0 || *end.Usage != addUsage(protocol.Usage{}, *c.rig.lastUsage()) {
			t.Errorf("usage %+v, shown %+v", end.Usage, c.rig.lastUsage())
		}
	})
}

// The server is killed after any record of a turn, and again in the rest.
func TestAPipelineContinuesAfterAKillAtAnyRecord(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for first := 1; ; first++ {
			var left bool
			for _, second := range []int{0, 1 + first*7%30} {
				c := newContinuing(t)
				c.calling = together()
				end, killed, err := c.live(false, first)
				when := fmt.Sprintf("killed after %d", first)
				if left = killed; killed && second > 0 {
					when += fmt.Sprintf(" and %d", second)
					end, killed, err = c.live(true, second)
				}
				if killed {
					end, _, err = c.live(true, -1)
				}
				c.check(when, end, err)
			}
			if !left {
				if first < 40 {
					t.Errorf("%d records", first)
				}
				return
			}
		}
	})
}

// Two conversations do not fit into the state: one task fails after the restart and says why.
func TestAConversationThatWasTooLargeIsNamedAndFailsItsTask(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newContinuing(t)
		random := make([]byte, 320<<10)
		_, _ = rand.NewChaCha8([32]byte{}).Read(random)
		c.padding = base64.StdEncoding.EncodeToString(random) + " "
		c.inTool = func(ctx context.Context, _ string) { <-ctx.Done() }
		go func() {
			synctest.Wait()
			c.life.mu.Lock()
			defer c.life.mu.Unlock()
			c.life.kill()
		}()
		if _, killed, _ := c.live(false, -1); !killed || len(c.saved) > 1<<20 {
			t.Fatalf("killed %v, %d bytes of state", killed, len(c.saved))
		}
		var notices []string
		for _, e := range c.events {
			if d, ok := e.Data.(protocol.NoticeData); ok {
				notices = append(notices, d.Message)
			}
		}
		c.inTool = nil
		if _, _, err := c.live(true, -1); err != nil {
			t.Fatal(err)
		}
		completed, failed := 0, ""
		for _, d := range c.taskEnds() {
			if d.Code == protocol.CodeServerRestart && strings.Contains(d.Message, "too large") {
				failed = d.Title
			} else if d.Result != "" {
				completed++
			}
		}
		if completed != 1 || failed == "" || len(notices) != 1 || !strings.Contains(notices[0], failed) {
			t.Errorf("completed %d, failed %q, notices %q", completed, failed, notices)
		}
		if c.effects["a"] != 1 || c.effects["b"] != 1 {
			t.Errorf("effects %v", c.effects)
		}
	})
}

// A planner does not continue: the turn says so.
func TestATurnThatWasPlanningWhenTheServerStoppedFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned("a"))
		r.capabilities = agent.Capabilities{Resumes: true, TakesReason: true}
		_, err := r.run(t.Context(), agent.Turn{Message: protocol.Message{Text: "do it"}, Resumed: true})
		if protocol.CodeOf(err) != protocol.CodeServerRestart || len(r.prompts) > 0 {
			t.Errorf("%v, prompts %q", err, r.prompts)
		}
		if !r.agent.Capabilities().Resumes {
			t.Error("it does not resume")
		}
		r.capabilities.TakesReason = false
		if r.open(); r.agent.Capabilities().Resumes {
			t.Error("it resumes with agents that get reasons as messages")
		}
	})
}

// together returns a function that waits until both tasks have called it: they run at the same time.
func together() func(ctx context.Context, task string) {
	var mu sync.Mutex
	came, both := map[string]bool{}, make(chan struct{})
	return func(ctx context.Context, task string) {
		mu.Lock()
		if came[task] = true; len(came) == 2 {
			select {
			case <-both:
			default:
				close(both)
			}
		}
		mu.Unlock()
		select {
		case <-both:
		case <-ctx.Done():
		}
	}
}

// lastUsage returns the usage that was shown last.
func (r *rig) lastUsage() *protocol.Usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range slices.Backward(r.events) {
		if u, ok := e.Data.(protocol.Usage); ok {
			return &u
		}
	}
	return nil
}
