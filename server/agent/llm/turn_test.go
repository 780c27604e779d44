package llm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
)

// echo is a tool that returns its argument.
func echo(name string) *fakeTool {
	return &fakeTool{
		name: name, parallel: true,
		run: func(_ context.Context, c *ToolCall, out func(string)) (ToolResult, error) {
			out("live")
			return ToolResult{Text: "result of " + string(c.Input)}, nil
		},
	}
}

func x(text string) map[string]string { return map[string]string{"x": text} }

// A turn with reasoning and two parallel calls: one is denied with a reason, one explained and then
// allowed.
func TestATurnWithParallelCallsDenialAndExplanation(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		script := fakemodel.Turns(
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
				out.Reasoning("hm")
				out.Text("I look.")
				out.Call("shell", x("rm"))
				out.Call("shell", x("ls"))
			},
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) { out.Call("shell", x("pwd")) },
			fakemodel.Say("it lists files"),
			func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
				out.Text(fmt.Sprint("done after ", len(r.Messages)))
			})
		r := newRig(t, api, name, script, echo("shell"))
		denied := make(chan struct{})
		r.decide = func(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
			if a.Command == "rm" {
				defer close(denied)
				return agent.Verdict{Outcome: protocol.Denied, Decision: protocol.Deny, Reason: "too dangerous"}, nil
			}
			<-denied
			why, err := r.agent.Explain(ctx, a)
			if err != nil || why != "it lists files" {
				t.Errorf("explanation %q, %v", why, err)
			}
			return agent.Verdict{Outcome: protocol.Allowed, Decision: protocol.AllowOnce}, nil
		}
		end, err := r.send(t.Context(), "go")
		if err != nil || end.Reason != protocol.ReasonCompleted {
			t.Fatalf("%+v, %v\n%s", end, err, r.lines())
		}
		if texts := r.texts(); len(texts) != 2 || texts[0] != "I look." {
			t.Errorf("texts %q", texts)
		}
		if got := r.results(); len(got) != 2 || !slices.Contains(got, "denied") || !slices.Contains(got, "completed") {
			t.Errorf("results %q", got)
		}
		requests := r.fake.Requests()
		last := string(requests[3].Body)
		for i, q := range requests[1:3] { // calls are forbidden after an answer that has one: that drops the provider's cache
			explained := string(q.Body)
			if !strings.Contains(explained, "explain it") || !strings.Contains(explained, pendingText) {
				t.Errorf("the side question: %s", explained)
			}
			if api != "google" && strings.Contains(explained, `"tool_choice"`) != (i > 0) {
				t.Errorf("side question %d: %s", i, explained)
			}
		}
		for _, text := range []string{"too dangerous", `result of`} {
			if !strings.Contains(last, text) {
				t.Errorf("the last request lacks %q: %s", text, last)
			}
		}
		if strings.Contains(last, "explain it") {
			t.Errorf("the side question is part of the conversation: %s", last)
		}
		if end.Usage == nil || end.Usage.Input == 0 || end.Usage.Cost == 0 || end.Usage.Currency != "USD" {
			t.Errorf("usage %+v", end.Usage)
		}
		if strings.Contains(r.everything(t), testKey) {
			t.Error("the session got the key")
		}
	})
}

func TestTheEventsOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "chat", "qwen", fakemodel.Turns(
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
				out.Reasoning("hm")
				out.Text("I ")
				out.Text("look.")
				out.Call("shell", x("ls"))
			}, fakemodel.Say("done")), echo("shell"))
		if _, err := r.send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		want := `reasoning.start 1.0
reasoning.delta 1.0 "hm"
reasoning.end 1.0
text.start 1.1
text.delta 1.1 "I "
text.delta 1.1 "look."
text.end 1.1
tool.started t1.1.2 shell 
tool.input t1.1.2 {"x":"ls"}
tool.started t1.1.2 shell shell ls
tool.output t1.1.2 live
tool.ended t1.1.2 completed 
text.start 2.0
text.delta 2.0 "done"
text.end 2.0
`
		if got := r.lines(); got != want {
			t.Errorf("got:\n%swant:\n%s", got, want)
		}
	})
}

// Text that came before the connection was cut is continued: neither lost nor doubled.
func TestACutAnswerIsContinued(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		script := fakemodel.Turns(
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
				out.Text("one ")
				out.Cut()
			},
			func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
				if !strings.Contains(string(r.Body), cutNote) || !strings.Contains(string(r.Body), "one ") {
					t.Errorf("the next attempt does not have the text: %s", r.Body)
				}
				out.Text("two")
			})
		r := newRig(t, api, name, script)
		began := time.Now()
		end, err := r.send(t.Context(), "go")
		if err != nil || end.Reason != protocol.ReasonCompleted {
			t.Fatalf("%+v, %v", end, err)
		}
		if texts := r.texts(); !slices.Equal(texts, []string{"one two"}) {
			t.Errorf("texts %q\n%s", texts, r.lines())
		}
		retries := r.retries()
		if len(retries) != 1 || retries[0].Attempt != 1 || retries[0].Limit != maxAttempts-1 ||
			retries[0].DelayMS != time.Since(began).Milliseconds() || retries[0].Cause == "" {
			t.Errorf("%+v after %s", retries, time.Since(began))
		}
	})
}

// A call of a cut answer never runs.
func TestACallOfACutAnswerDoesNotRun(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		tool := echo("shell")
		tool.run = func(context.Context, *ToolCall, func(string)) (ToolResult, error) {
			t.Error("the call ran")
			return ToolResult{}, nil
		}
		script := fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Call("shell", x("ls"))
			out.Cut()
		}, fakemodel.Say("done"))
		r := newRig(t, api, name, script, tool)
		if _, err := r.send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		if got := r.results(); !slices.Equal(got, []string{"cancelled"}) {
			t.Errorf("%q", got)
		}
	})
}

func TestFailuresThatMayPassAreTriedAgain(t *testing.T) {
	for name, fault := range map[string]func(ctx context.Context, out *fakemodel.Reply){
		"429": func(_ context.Context, out *fakemodel.Reply) {
			out.Header("Retry-After", "30")
			out.Fail(429, "slow down")
		},
		"500":  func(_ context.Context, out *fakemodel.Reply) { out.Fail(500, "oops") },
		"529":  func(_ context.Context, out *fakemodel.Reply) { out.Fail(529, "overloaded") },
		"hung": func(ctx context.Context, out *fakemodel.Reply) { out.Hang(ctx) },
		"malformed": func(_ context.Context, out *fakemodel.Reply) {
			out.Garbage()
		},
		"error in the stream": func(_ context.Context, out *fakemodel.Reply) { out.Break(503, "overloaded") },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, api, model string) {
				script := func(ctx context.Context, r fakemodel.Request, out *fakemodel.Reply) {
					if r.N < 2 {
						fault(ctx, out)
						return
					}
					out.Text("ok")
				}
				r := newRig(t, api, model, script)
				began := time.Now()
				end, err := r.send(t.Context(), "go")
				if err != nil || end.Reason != protocol.ReasonCompleted || !slices.Equal(r.texts(), []string{"ok"}) {
					t.Fatalf("%+v, %v\n%s", end, err, r.lines())
				}
				retries := r.retries()
				if len(retries) != 2 || retries[1].Attempt != 2 {
					t.Fatalf("%+v", retries)
				}
				if name == "429" && time.Since(began) != time.Minute {
					t.Errorf("took %s, the provider wanted twice 30s", time.Since(began))
				}
			})
		})
	}
}

func TestRetriesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "openai", "gpt-5.5", func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Fail(500, "broken for good")
		})
		_, err := r.send(t.Context(), "go")
		if protocol.CodeOf(err) != protocol.CodeAgentFailed || !strings.Contains(err.Error(), "broken for good") ||
			!strings.Contains(err.Error(), "later") {
			t.Errorf("%v", err)
		}
		if n := len(r.fake.Requests()); n != maxAttempts {
			t.Errorf("%d requests, want %d", n, maxAttempts)
		}
		var last int64
		for _, d := range r.retries() {
			if d.DelayMS < last/2 || d.DelayMS > maxDelay.Milliseconds() {
				t.Errorf("delay %d after %d", d.DelayMS, last)
			}
			last = d.DelayMS
		}
	})
}

func TestFailuresThatStayEndTheTurn(t *testing.T) {
	for status, want := range map[int]struct {
		code   protocol.Code
		advice string
	}{
		401: {protocol.CodeAgentAuth, "check the key"}, 404: {protocol.CodeAgentFailed, "name of the model"},
		400: {protocol.CodeAgentFailed, "refuses the request"}, 402: {protocol.CodeLimited, "credit"},
		413: {protocol.CodeAgentFailed, "compact"},
	} {
		each(t, func(t *testing.T, api, name string) {
			r := newRig(t, api, name, func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
				out.Fail(status, "no "+testKey)
			})
			end, err := r.send(t.Context(), "go")
			if err != nil {
				end.Code, end.Message = protocol.CodeOf(err), err.Error()
			}
			if end.Code != want.code || !strings.Contains(end.Message, want.advice) {
				t.Errorf("%d: %s: %s", status, end.Code, end.Message)
			}
			if len(r.retries()) != 0 || strings.Contains(end.Message, testKey) {
				t.Errorf("%d: %v, %s", status, r.retries(), end.Message)
			}
		})
	}
}

func TestAnInterruptKeepsThePartialAnswer(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		script := fakemodel.Turns(func(ctx context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Text("half an ans")
			out.Hang(ctx)
		}, fakemodel.Say("ok"))
		r := newRig(t, api, name, script)
		ctx, cancel := context.WithCancel(t.Context())
		r.onEmit = func(e agent.Event) {
			if e.Type == protocol.TextDelta {
				cancel()
			}
		}
		end, err := r.send(ctx, "go")
		if err != nil || end.Reason != protocol.ReasonInterrupted {
			t.Fatalf("%+v, %v", end, err)
		}
		r.onEmit = nil
		if _, err := r.send(t.Context(), "again"); err != nil {
			t.Fatal(err)
		}
		body := string(r.fake.Requests()[1].Body)
		for _, text := range []string{"half an ans", interruptedNote, "again"} {
			if !strings.Contains(body, text) {
				t.Errorf("the next request lacks %q: %s", text, body)
			}
		}
	})
}

func TestAnInterruptStopsARunningCall(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		ctx, cancel := context.WithCancel(t.Context())
		tool := echo("shell")
		tool.run = func(ctx context.Context, _ *ToolCall, _ func(string)) (ToolResult, error) {
			cancel()
			<-ctx.Done()
			return ToolResult{Text: "so far"}, ctx.Err()
		}
		script := fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Call("shell", x("sleep"))
		}, fakemodel.Say("ok"))
		r := newRig(t, api, name, script, tool)
		end, err := r.send(ctx, "go")
		if err != nil || end.Reason != protocol.ReasonInterrupted || !slices.Equal(r.results(), []string{"cancelled"}) {
			t.Fatalf("%+v, %v\n%s", end, err, r.lines())
		}
		if _, err := r.send(t.Context(), "again"); err != nil {
			t.Fatal(err)
		}
		body := string(r.fake.Requests()[1].Body)
		if !strings.Contains(body, "so far") || !strings.Contains(body, "interrupted the call") {
			t.Errorf("the next request lacks the result: %s", body)
		}
	})
}

func TestDenyAndStopEndsTheTurnAndAnswersEveryCall(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		tool := echo("shell")
		tool.parallel = false
		script := fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Call("shell", x("a"))
			out.Call("shell", x("b"))
		}, fakemodel.Say("ok"))
		r := newRig(t, api, name, script, tool)
		r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
			return agent.Verdict{Outcome: protocol.Denied, Decision: protocol.DenyStop, Reason: "wrong way"}, nil
		}
		end, err := r.send(t.Context(), "go")
		if err != nil || end.Reason != protocol.ReasonDenied || end.Message != "wrong way" || len(r.asked) != 1 {
			t.Fatalf("%+v, %v, asked %d", end, err, len(r.asked))
		}
		if _, err := r.send(t.Context(), "again"); err != nil {
			t.Fatal(err)
		}
		body := string(r.fake.Requests()[1].Body)
		if !strings.Contains(body, "wrong way") || !strings.Contains(body, "stopped the turn") {
			t.Errorf("the next request lacks the results: %s", body)
		}
	})
}

func TestAnEditedPatchIsAppliedAndTheModelIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := echo("patch")
		tool.run = func(_ context.Context, c *ToolCall, _ func(string)) (ToolResult, error) {
			return ToolResult{Text: "applied " + c.Patch}, nil
		}
		script := fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Call("patch", x("theirs"))
		}, fakemodel.Say("ok"))
		r := newRig(t, "chat", "qwen", script, tool)
		r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
			return agent.Verdict{
				Outcome: protocol.Allowed, Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Patch: "OURS"},
			}, nil
		}
		if _, err := r.send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		text, _ := r.fake.Requests()[1].ToolResult()
		if !strings.Contains(text, "applied OURS") || !strings.Contains(text, "user edited the patch") {
			t.Errorf("%q", text)
		}
	})
}

func TestCallsThatCannotRunAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Call("shell", map[string]string{})
			out.Call("nothing", x("a"))
		}, fakemodel.Say("ok"))
		r := newRig(t, "anthropic", "claude-sonnet-5-5", script, echo("shell"))
		if _, err := r.send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		body := string(r.fake.Requests()[1].Body)
		if !strings.Contains(body, "x is missing") || !strings.Contains(body, `There is no tool`) ||
			!slices.Equal(r.results(), []string{"failed", "failed"}) {
			t.Errorf("%q, %s", r.results(), body)
		}
	})
}

func TestABudgetEndsTheTurnWithItsReason(t *testing.T) {
	for name, c := range map[string]struct {
		budget Budget
		want   protocol.Reason
	}{
		"requests of the turn":    {Budget{Turn: Limits{Requests: 2}}, protocol.ReasonMaxRequests},
		"tokens of the turn":      {Budget{Turn: Limits{Tokens: 1}}, protocol.ReasonMaxTokens},
		"cost of the turn":        {Budget{Turn: Limits{Cost: 1e-9}}, protocol.ReasonBudget},
		"requests of the session": {Budget{Session: Limits{Requests: 2}}, protocol.ReasonMaxRequests},
		"cost of the session":     {Budget{Session: Limits{Cost: 1e-9}}, protocol.ReasonBudget},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, api, model string) {
				n := 0
				script := func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
					n++
					out.Call("shell", x(fmt.Sprint(n)))
				}
				r := newRig(t, api, model, script, echo("shell"))
				r.agent.options.Config.Budget = c.budget
				end, err := r.send(t.Context(), "go")
				if err != nil || end.Reason != c.want || !strings.Contains(end.Message, "budget") {
					t.Errorf("%+v, %v", end, err)
				}
				if got := len(r.fake.Requests()); got != c.budget.Turn.Requests+c.budget.Session.Requests && got != 1 {
					t.Errorf("%d requests", got)
				}
			})
		})
	}
}

// After a restart a turn continues: a call that had started is reported as unknown and not
// repeated, the others run.
func TestAResumedTurnRunsNoCallTwice(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		tool := echo("shell")
		tool.parallel = false
		runs := map[string]int{}
		var state []byte
		var r *rig
		tool.run = func(_ context.Context, c *ToolCall, _ func(string)) (ToolResult, error) {
			runs[string(c.Input)]++
			if state == nil {
				state = r.durable // the server dies here
			}
			return ToolResult{Text: "ran"}, nil
		}
		script := func(_ context.Context, q fakemodel.Request, out *fakemodel.Reply) {
			if _, ok := q.ToolResult(); ok {
				out.Text("done")
				return
			}
			out.Call("shell", x("a"))
			out.Call("shell", x("b"))
		}
		r = newRig(t, api, name, script, tool)
		if _, err := r.send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		first := r.asked[1].Request
		r.recorder = &recorder{decide: r.decide}
		r.open(state)
		turn := agent.Turn{ID: "t1", Message: protocol.Message{Text: "go"}, Resumed: true}
		end, err := r.agent.Run(t.Context(), turn, r.recorder)
		if err != nil || end.Reason != protocol.ReasonCompleted {
			t.Fatalf("%+v, %v", end, err)
		}
		if got := r.results(); !slices.Equal(got, []string{"unknown", "completed"}) {
			t.Errorf("%q", got)
		}
		if runs[`{"x":"a"}`] != 1 || runs[`{"x":"b"}`] != 2 {
			t.Errorf("%v", runs)
		}
		if len(r.asked) != 1 || r.asked[0].Request != first {
			t.Errorf("asked %+v, before the restart %s", r.asked, first)
		}
		last := r.fake.Requests()[len(r.fake.Requests())-1]
		if !strings.Contains(string(last.Body), "not known whether it took effect") {
			t.Errorf("the model is not informed: %s", last.Body)
		}
	})
}

func TestAPolicyDeniesWithoutAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Call("shell", x("rm"))
		}, fakemodel.Say("ok"))
		r := newRig(t, "google", "gemini-3-pro", script, echo("shell"))
		r.opts.Config.Policy = policy.Deny
		r.open(nil)
		if _, err := r.send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		body := string(r.fake.Requests()[1].Body)
		if len(r.asked) != 0 || !slices.Equal(r.results(), []string{"denied"}) || !strings.Contains(body,
			"no user can be asked") {
			t.Errorf("asked %d, %q, %s", len(r.asked), r.results(), body)
		}
	})
}

// A running call asks questions that arise only while it runs.
func TestARunningCallAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := echo("shell")
		tool.run = func(ctx context.Context, c *ToolCall, _ func(string)) (ToolResult, error) {
			answer, err := c.Asking(ctx, protocol.Approval{Kind: protocol.ApproveQuestion, Title: "Sure?"})
			return ToolResult{Text: "the answer: " + answer.Denied}, err
		}
		script := fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Call("shell", x("rm"))
		}, fakemodel.Say("ok"))
		r := newRig(t, "chat", "qwen", script, tool)
		r.decide = func(_ context.Context, a protocol.Approval) (agent.Verdict, error) {
			if a.Kind == protocol.ApproveQuestion {
				return agent.Verdict{Outcome: protocol.Denied, Decision: protocol.Deny, Reason: "never"}, nil
			}
			return agent.Verdict{Outcome: protocol.Allowed, Decision: protocol.AllowOnce}, nil
		}
		if _, err := r.send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		text, _ := r.fake.Requests()[1].ToolResult()
		if len(r.asked) != 2 || r.asked[1].Request == r.asked[0].Request || r.asked[1].Tool != r.asked[0].Tool ||
			!strings.Contains(text, "never") {
			t.Errorf("asked %+v, result %q", r.asked, text)
		}
	})
}

// The model is told not to bypass a denial. Users see only the decision.
func TestADenialTellsUsersTheReasonAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Call("shell", x("rm"))
		}, fakemodel.Say("ok"))
		r := newRig(t, "chat", "qwen", script, echo("shell"))
		r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
			return agent.Verdict{Outcome: protocol.Denied, Decision: protocol.Deny, Reason: "too dangerous"}, nil
		}
		if _, err := r.send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		const told = "The user denied this call. Reason: too dangerous."
		if text, _ := r.fake.Requests()[1].ToolResult(); text != told+deniedRule {
			t.Errorf("the model got %q", text)
		}
		for _, e := range r.events {
			if d, ok := e.Data.(protocol.ToolEndedData); ok && d.Error != told {
				t.Errorf("users got %q", d.Error)
			}
		}
	})
}

// The policy deny answers the questions of a running call.
func TestAPolicyDeniesTheQuestionsOfARunningCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := echo("look")
		tool.safe = true
		tool.run = func(ctx context.Context, c *ToolCall, _ func(string)) (ToolResult, error) {
			answer, err := c.Asking(ctx, protocol.Approval{Kind: protocol.ApproveQuestion, Title: "Sure?"})
			return ToolResult{Text: "the answer: " + answer.Denied}, err
		}
		script := fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Call("look", x("a"))
		}, fakemodel.Say("ok"))
		r := newRig(t, "chat", "qwen", script, tool)
		r.opts.Config.Policy = policy.Deny
		r.open(nil)
		if _, err := r.send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		text, _ := r.fake.Requests()[1].ToolResult()
		if len(r.asked) != 0 || !strings.Contains(text, "The policy denies questions") {
			t.Errorf("asked %+v, result %q", r.asked, text)
		}
	})
}

// After a call that cannot be read the model is asked again, with a hint.
func TestTheModelIsToldOfACallThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "google", "gemini-3-pro", fakemodel.Turns(
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
				out.End(fakemodel.StopBadCall)
			}, fakemodel.Say("ok")), echo("shell"))
		end, err := r.send(t.Context(), "go")
		if err != nil || end.Reason != protocol.ReasonCompleted {
			t.Fatalf("%+v, %v", end, err)
		}
		if !strings.Contains(string(r.fake.Requests()[1].Body), "could not be read") {
			t.Errorf("%s", r.fake.Requests()[1].Body)
		}
	})
}
