package llm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/fakemodel"
	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/server/agent/llm/compaction"
	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/provider"
)

// fact matches facts in the messages of a conversation.
var fact = regexp.MustCompile(`remember that [a-z0-9-]+ is [a-z0-9-]+`)

// facts returns the facts of a request: a script that answers with them knows only the sent
// messages.
func facts(r fakemodel.Request) string {
	found := fact.FindAllString(string(r.Body), -1)
	slices.Sort(found)
	return strings.Join(slices.Compact(found), "\n")
}

// isSummary reports whether a request asks for a summary.
func isSummary(r fakemodel.Request) bool {
	return strings.Contains(string(r.Body), "with these sections")
}

// compactions returns the compactions that the session got to know.
func (r *recorder) compactions() (all []protocol.ContextCompactedData) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if d, ok := e.Data.(protocol.ContextCompactedData); ok {
			all = append(all, d)
		}
	}
	return all
}

// remembering is a model that calls a tool in each turn and answers a question from its context.
func remembering(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
	_, result := r.ToolResult()
	switch {
	case isSummary(r):
		out.Text("Facts:\n" + facts(r))
	case strings.Contains(r.LastUser(), "What is"):
		out.Text("I know: " + facts(r))
	case result:
		out.Text("done " + noise(300))
	default:
		out.Call("read", x("file"))
	}
}

func TestALongConversationFitsTheContextAndKeepsItsFirstFact(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		big := &fakeTool{name: "read", run: func(context.Context, *ToolCall, func(string)) (ToolResult, error) {
			return ToolResult{Text: noise(2400)}, nil
		}}
		r := newRig(t, api, name, remembering, big)
		r.fake = fakemodel.Limited(10_000, remembering)
		sent := 0
		turns := 25
		if thorough.All() {
			turns = 210
		}
		for i := range turns {
			text := fmt.Sprintf("message %d %s", i, noise(1200))
			if i == 0 {
				text = "remember that the-code is blue-42"
			}
			if _, err := r.send(t.Context(), text); err != nil {
				t.Fatalf("turn %d: %v", i, err)
			}
			sent += len(text) + 2400 + 300
		}
		if sent < turns*3800 {
			t.Fatalf("the conversation has only %d bytes", sent)
		}
		if _, err := r.send(t.Context(), "What is the code?"); err != nil {
			t.Fatal(err)
		}
		texts := r.texts()
		if last := texts[len(texts)-1]; !strings.Contains(last, "the-code is blue-42") {
			t.Errorf("the last answer is %q", last)
		}
		all := r.compactions()
		if len(all) < turns/21 {
			t.Errorf("%d compactions", len(all))
		}
		for _, d := range all {
			if d.After >= d.Before || !d.Automatic {
				t.Errorf("%+v", d)
			}
		}
		for _, q := range r.fake.Requests() {
			if 1+len(q.Body)/4 > 10_000 {
				t.Errorf("a request of %d tokens overflowed", 1+len(q.Body)/4)
			}
		}
	})
}

// The window is not known, or the configured one is too large: the provider's refusal compacts.
func TestARefusedContextIsCompactedAndTheRequestRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "chat", "other", remembering)
		r.opts.Config.Model = "test/other" // its window is not configured
		r.open(nil)
		r.fake = fakemodel.Limited(4000, func(ctx context.Context, q fakemodel.Request, out *fakemodel.Reply) {
			if isSummary(q) || strings.Contains(q.LastUser(), "What is") {
				remembering(ctx, q, out)
				return
			}
			out.Text("ok")
		})
		for i := range 20 {
			text := "message " + noise(2000)
			if i == 0 {
				text = "remember that the-code is blue-42"
			}
			if end, err := r.send(t.Context(), text); err != nil {
				t.Fatalf("turn %d: %+v, %v", i, end, err)
			}
		}
		if _, err := r.send(t.Context(), "What is the code?"); err != nil {
			t.Fatal(err)
		}
		if texts := r.texts(); !strings.Contains(strings.Join(texts, ""), "blue-42") {
			t.Errorf("the answers are %q", texts)
		}
		if len(r.compactions()) == 0 {
			t.Error("no compaction")
		}
	})
}

// One message that does not fit ends the turn after a bounded number of requests.
func TestAMessageThatNeverFitsEndsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "anthropic", "claude-sonnet-5-5", remembering)
		r.fake = fakemodel.Limited(1, remembering)
		_, err := r.send(t.Context(), "hello")
		if protocol.CodeOf(err) != protocol.CodeAgentFailed || !strings.Contains(err.Error(), "context") {
			t.Errorf("%v", err)
		}
		if n := len(r.fake.Requests()); n > 4 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestOldResultsAreDroppedBeforeASummaryIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := &fakeTool{name: "read", run: func(context.Context, *ToolCall, func(string)) (ToolResult, error) {
			return ToolResult{Text: noise(6000)}, nil
		}}
		r := newRig(t, "chat", "qwen", remembering, big)
		for range 8 {
			if _, err := r.send(t.Context(), "go on"); err != nil {
				t.Fatal(err)
			}
		}
		all := r.compactions()
		if len(all) == 0 || all[0].Strategy != droppedResults {
			t.Fatalf("%+v", all)
		}
		if slices.ContainsFunc(r.fake.Requests(), isSummary) {
			t.Error("a summary was requested")
		}
		requests := r.fake.Requests()
		if !strings.Contains(string(requests[len(requests)-1].Body), "bytes were left out to save space. Call read") {
			t.Error("no result was dropped")
		}
	})
}

// A summary that is interrupted, or refused for a reason that stays, changes nothing.
func TestAFailedSummaryLosesNothing(t *testing.T) {
	for _, how := range []string{"unauthorized", "interrupted"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r := newRig(t, "anthropic", "claude-sonnet-5-5", func(
					ctx context.Context, q fakemodel.Request, out *fakemodel.Reply,
				) {
					switch {
					case !isSummary(q):
						out.Text("ok")
					case how == "unauthorized":
						out.Fail(401, "no")
					case how == "interrupted":
						cancel()
						out.Hang(ctx)
					}
				})
				before := fill(t, r)
				if _, err := r.agent.Compact(ctx); err == nil {
					t.Error("the compaction succeeded")
				}
				if got := r.conversation(t); !slices.EqualFunc(got, before, sameMessage) {
					t.Errorf("the conversation changed from %d to %d messages", len(before), len(got))
				}
			})
		})
	}
}

// An excerpt replaces a summary that the model does not write in two requests. Only the second one forbids calls:
// with another tool_choice, providers do not use the cached conversation. No call is run.
func TestAnExcerptReplacesASummaryThatFailsTwice(t *testing.T) {
	for how, want := range map[string]int{"refused": 1, "empty": 2, "cut": 2, "calls": 2} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				r := newRig(t, "anthropic", "claude-sonnet-5-5", func(
					_ context.Context, q fakemodel.Request, out *fakemodel.Reply,
				) {
					if !isSummary(q) {
						out.Text("ok")
						return
					}
					if forbids := strings.Contains(string(q.Body), `"tool_choice"`); forbids != (asked > 0) {
						t.Errorf("request %d forbids calls: %t", asked+1, forbids)
					}
					asked++
					switch how {
					case "calls":
						out.Call("ask_user", map[string]any{"questions": []any{}})
					case "refused":
						out.Fail(400, "no")
					case "cut":
						out.Text("half of")
						out.Cut()
					}
				})
				before := fill(t, r)
				d, err := r.agent.Compact(t.Context())
				if err != nil || d.Strategy != excerpted || d.After >= d.Before || asked != want {
					t.Errorf("%+v, %v after %d requests", d, err, asked)
				}
				if got := r.conversation(t); compaction.Size(got) >= compaction.Size(before) {
					t.Errorf("%d bytes became %d", compaction.Size(before), compaction.Size(got))
				}
			})
		})
	}
}

// Every message of the user outlives two summaries and a restart, also one that joined a turn.
func TestASummaryKeepsAllMessagesOfTheUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "chat", "qwen", func(_ context.Context, q fakemodel.Request, out *fakemodel.Reply) {
			if isSummary(q) {
				out.Text("short")
				return
			}
			out.Text(noise(3000))
		})
		var want []string
		for i := range 12 {
			text := fmt.Sprintf("request %d", i)
			want = append(want, text)
			if _, err := r.send(t.Context(), text); err != nil {
				t.Fatal(err)
			}
			if i%5 == 4 {
				if _, err := r.agent.Compact(t.Context()); err != nil {
					t.Fatal(err)
				}
				r.open(r.state)
			}
		}
		all := ""
		for _, m := range r.conversation(t) {
			all += m.Text() + "\n"
		}
		for _, text := range want {
			if !strings.Contains(all, text+"\n") {
				t.Errorf("%q is gone", text)
			}
		}
	})
}

// Eight results of 98 KB in one step fit, whether the window is known or not, and the session lives on.
func TestLargeResultsOfOneStepFit(t *testing.T) {
	for name, window := range map[string]int64{"unknown": 0, "small": 16_384, "manual": 16_384, "wrong": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				big := &fakeTool{
					name: "read", safe: true, parallel: true,
					run: func(_ context.Context, c *ToolCall, _ func(string)) (ToolResult, error) {
						return ToolResult{Text: noise(98_000)}, nil
					},
				}
				r := newRig(t, "chat", "qwen", remembering, big)
				r.set["test"].Models["qwen"] = provider.ModelConfig{Window: window}
				if name == "manual" {
					r.opts.Config.Context.Strategy = contextManual
				}
				r.open(nil)
				r.fake = fakemodel.Limited(16_384, func(_ context.Context, q fakemodel.Request, out *fakemodel.Reply) {
					switch {
					case isSummary(q):
						out.Text("short")
					case strings.HasSuffix(q.LastUser(), "read all") && !strings.Contains(string(q.Body), `"tool"`):
						for i := range 8 {
							out.Call("read", x(fmt.Sprint(i)))
						}
					default:
						out.Text("ok")
					}
				})
				for _, text := range []string{"read all", "go on", "and on"} {
					if end, err := r.send(t.Context(), text); err != nil || end.Reason != protocol.ReasonCompleted {
						t.Fatalf("%s: %+v, %v", text, end, err)
					}
				}
				if window == 16_384 {
					for _, q := range r.fake.Requests() {
						if 1+len(q.Body)/4 > 16_384 {
							t.Errorf("a request of %d tokens was sent", 1+len(q.Body)/4)
						}
					}
				}
				if n := len(r.compactions()); name == "manual" && n > 0 {
					t.Errorf("%d compactions: the results did not fit", n)
				}
				if d, err := r.agent.Compact(t.Context()); err != nil || d.After >= d.Before {
					t.Errorf("compact: %+v, %v", d, err)
				}
				checkPairs(t, r.conversation(t))
			})
		})
	}
}

// fill makes a conversation of 6 turns and returns it.
func fill(t *testing.T, r *rig) []model.Message {
	t.Helper()
	for i := range 6 {
		if _, err := r.send(t.Context(), fmt.Sprint("message ", i, noise(500))); err != nil {
			t.Fatal(err)
		}
	}
	return r.conversation(t)
}

// conversation returns the stored conversation.
func (r *rig) conversation(t *testing.T) []model.Message {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := decodeState(r.state)
	if err != nil {
		t.Fatal(err)
	}
	return s.Conversation
}

func sameMessage(a, b model.Message) bool { return a.Role == b.Role && a.Text() == b.Text() }

// A user compacts while the strategy is manual. Files and steps stay known.
func TestACommandCompactsAndKeepsFilesAndSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "chat", "qwen", remembering)
		if err := r.agent.Configure(t.Context(), "context", "manual"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.agent.Compact(t.Context()); protocol.CodeOf(err) != protocol.CodeConflict {
			t.Errorf("an empty context: %v", err)
		}
		r.open(r.state)
		r.fake = fakemodel.New(func(ctx context.Context, q fakemodel.Request, out *fakemodel.Reply) {
			if isSummary(q) {
				remembering(ctx, q, out)
				return
			}
			out.Text(noise(4500))
		})
		for i := range 8 {
			text := fmt.Sprint("message ", i)
			if i == 0 {
				text = "remember that the-code is blue-42"
			}
			if _, err := r.send(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		if len(r.compactions()) != 0 {
			t.Fatal("the manual strategy compacted by itself")
		}
		r.agent.mu.Lock()
		r.agent.state.touch([]protocol.Location{{Path: "/work/a.go"}}, true)
		r.agent.state.touch([]protocol.Location{{Path: "/work/b.go"}}, false)
		r.agent.state.Steps = []protocol.Task{{Title: "write tests", Status: protocol.StatusPending}}
		r.agent.mu.Unlock()
		d, err := r.agent.Compact(t.Context())
		if err != nil || d.After >= d.Before || d.Strategy != summarized || d.Automatic {
			t.Fatalf("%+v, %v", d, err)
		}
		all := r.conversation(t)
		first := all[0].Text()
		for _, want := range []string{
			"the-code is blue-42", "changed so far:\n- /work/a.go", "read so far:\n- /work/b.go",
			"write tests (pending)",
		} {
			if !strings.Contains(first, want) {
				t.Errorf("the summary lacks %q: %s", want, first)
			}
		}
		if last := all[len(all)-2]; !strings.HasSuffix(last.Text(), "message 7") {
			t.Errorf("the last message is %q", last.Text())
		}
		info, parts, err := r.agent.Context(t.Context())
		if err != nil || info.Strategy != "manual" || info.Tokens != d.After || len(parts) == 0 {
			t.Errorf("%+v, %+v, %v; after the compaction %d", info, parts, err, d.After)
		}
		// The conversation continues, also after a restart.
		r.open(r.state)
		if _, err := r.send(t.Context(), "more"); err != nil {
			t.Error(err)
		}
	})
}

// A compaction between a call and its result keeps both together.
func TestACompactionKeepsAnOpenCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		tool := &fakeTool{name: "read"}
		tool.run = func(ctx context.Context, _ *ToolCall, _ func(string)) (ToolResult, error) {
			_, err := r.agent.Compact(ctx)
			return ToolResult{Text: "result"}, err
		}
		r = newRig(t, "anthropic", "claude-sonnet-5-5", func(
			ctx context.Context, q fakemodel.Request, out *fakemodel.Reply,
		) {
			if strings.HasPrefix(q.LastUser(), "message") && !isSummary(q) {
				out.Text("ok")
				return
			}
			remembering(ctx, q, out)
		}, tool)
		fill(t, r)
		if _, err := r.send(t.Context(), "remember that x is y"); err != nil {
			t.Fatal(err)
		}
		if got := r.results(); !slices.Equal(got, []string{"completed"}) {
			t.Fatalf("results %q\n%s", got, r.lines())
		}
		checkPairs(t, r.conversation(t))
	})
}

// checkPairs fails if a call has no result in the next message, or a result no call before it.
func checkPairs(t *testing.T, all []model.Message) {
	t.Helper()
	for i := range all {
		for _, c := range all[i].Calls() {
			if i+1 == len(all) || !slices.ContainsFunc(all[i+1].Parts, func(p model.Part) bool {
				return p.Result != nil && p.Result.ID == c.ID
			}) {
				t.Errorf("call %s of message %d has no result", c.ID, i)
			}
		}
		for _, p := range all[i].Parts {
			if p.Result != nil && (i == 0 || !slices.ContainsFunc(all[i-1].Calls(), func(c model.Call) bool {
				return c.ID == p.Result.ID
			})) {
				t.Errorf("result %s of message %d has no call", p.Result.ID, i)
			}
		}
	}
}

func TestTheMarksOfTurnsStandAfterACompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "chat", "qwen", func(_ context.Context, q fakemodel.Request, out *fakemodel.Reply) {
			if isSummary(q) {
				out.Text("short")
				return
			}
			out.Text("answer to " + q.LastUser())
		})
		fill(t, r)
		if _, err := r.agent.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := &r.agent.state
		if len(s.Turns) == 0 || len(s.Turns) == 6 {
			t.Fatalf("%+v", s.Turns)
		}
		for _, m := range s.Turns {
			want := "message " + fmt.Sprint(m.Turn[1]-'1')
			if got := s.Conversation[m.At].Parts[m.Part].Text; !strings.HasPrefix(got, want) {
				t.Errorf("turn %s begins with %.20q", m.Turn, got)
			}
		}
	})
}

func TestAnImageCountsLittle(t *testing.T) {
	m := model.Message{Role: model.User, Parts: []model.Part{
		{Type: model.FilePart, File: &model.File{MediaType: "image/png", Data: make([]byte, 1<<20)}},
	}}
	if size := compaction.Size([]model.Message{m}); size > 10_000 {
		t.Errorf("%d bytes", size)
	}
}

// With random windows, and messages, results and calls of random sizes, every request fits, every turn ends well, and
// a command to compact makes the conversation smaller or says that there is nothing to compact.
func TestEveryRequestFitsTheWindow(t *testing.T) {
	for seed := range uint64(thorough.Rounds(12, 200)) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 29))
			var mu sync.Mutex
			below := func(n int) int {
				mu.Lock()
				defer mu.Unlock()
				return rng.IntN(n)
			}
			window := 9_000 + below(20_000)
			size := func() int { return 1 + below([]int{50, 2_000, 90_000}[below(3)]) }
			read := &fakeTool{
				name: "read", safe: true, parallel: true,
				run: func(context.Context, *ToolCall, func(string)) (ToolResult, error) {
					return ToolResult{Text: letters(size())}, nil
				},
			}
			script := func(_ context.Context, q fakemodel.Request, out *fakemodel.Reply) {
				if _, ended := q.ToolResult(); isSummary(q) || ended && below(2) == 0 || below(3) == 0 {
					out.Text(letters(1 + below(400)))
					return
				}
				for range 1 + below(6) {
					out.Call("read", x(letters(1+below(2_000))))
				}
			}
			r := newRig(t, "chat", "qwen", script, read)
			r.set["test"].Models["qwen"] = provider.ModelConfig{Window: int64(window)}
			r.opts.Config.Context.Strategy = []string{contextThreshold, contextManual}[below(2)]
			r.open(nil)
			r.fake = fakemodel.Limited(window, script)
			for i := range 8 {
				text := letters(1 + below(window)) // less than a third of the window
				if end, err := r.send(t.Context(), text); err != nil || end.Reason != protocol.ReasonCompleted {
					t.Fatalf("seed %d, turn %d: %+v, %v", seed, i, end, err)
				}
				if below(3) > 0 {
					continue
				}
				d, err := r.agent.Compact(t.Context())
				if err != nil && !errors.Is(err, errSmall) || err == nil && d.After >= d.Before {
					t.Errorf("seed %d: compacted %+v, %v", seed, d, err)
				}
			}
			for _, q := range r.fake.Requests() {
				if tokens := 1 + len(q.Body)/4; tokens > window+window/50 { // the size is an estimate
					t.Errorf("seed %d: a request of %d tokens for a window of %d", seed, tokens, window)
				}
			}
		})
	}
}

// letters is noise of which JSON escapes nothing.
func letters(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('A' + rand.IntN(26))
	}
	return string(b)
}
