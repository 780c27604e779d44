package llm

import (
	"context"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
)

// questioner asks two questions, and repeats the answers.
func questioner(_ context.Context, q fakemodel.Request, out *fakemodel.Reply) {
	switch q.N {
	case 0:
		out.Call("ask_user", map[string]any{"questions": []any{}})
	case 1:
		out.Call("ask_user", map[string]any{"questions": []any{
			map[string]any{"question": "Which database?", "choices": []any{
				map[string]string{"label": "Postgres"}, map[string]string{"label": "SQLite", "about": "one file"},
			}},
			map[string]any{"question": "Its name?"},
		}})
	default:
		out.Text("done")
	}
}

func TestTheModelAsksTheUser(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		r := newRig(t, api, name, questioner)
		r.opts.Config.Policy = policy.Full // decides no question for a user
		r.open(nil)
		r.decide = func(_ context.Context, a protocol.Approval) (agent.Verdict, error) {
			return agent.Verdict{
				Outcome: protocol.Allowed, Decision: protocol.AllowOnce,
				Input: &protocol.ApprovalInput{Answers: map[string][]string{"1": {"2"}, "2": {"the big store"}}},
			}, nil
		}
		end, err := r.send(t.Context(), "go")
		if err != nil || end.Reason != protocol.ReasonCompleted {
			t.Fatalf("%+v, %v\n%s", end, err, r.lines())
		}
		if got := r.results(); !slices.Equal(got, []string{"failed", "completed"}) || len(r.asked) != 1 {
			t.Fatalf("results %q, asked %d", got, len(r.asked))
		}
		if a := r.asked[0]; a.Kind != protocol.ApproveQuestion || a.Input != nil || len(a.Questions) != 2 ||
			a.Questions[0].Choices[1].Label != "SQLite" || a.Title != "Which database?" {
			t.Errorf("asked %+v", a)
		}
		r.agent.mu.Lock()
		defer r.agent.mu.Unlock()
		text := ""
		for _, m := range r.agent.state.Conversation {
			for _, p := range m.Parts {
				if p.Result != nil && !p.Result.Error {
					text = p.Result.Text
				}
			}
		}
		if text != "Which database?\n- SQLite\nIts name?\n- the big store\n" {
			t.Errorf("the model got %q", text)
		}
	})
}

func TestASkippedQuestionIsNotRefused(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		r := newRig(t, api, name, questioner)
		r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
			return agent.Verdict{Outcome: protocol.Denied, Decision: protocol.Deny, Reason: "you choose"}, nil
		}
		end, err := r.send(t.Context(), "go")
		if err != nil || end.Reason != protocol.ReasonCompleted {
			t.Fatalf("%+v, %v\n%s", end, err, r.lines())
		}
		if !strings.Contains(r.lines(), "skipped the questions") || !strings.Contains(r.lines(), "you choose") {
			t.Errorf("the model is not informed:\n%s", r.lines())
		}
	})
}
