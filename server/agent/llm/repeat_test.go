package llm

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent/llm/model"
	"agentctl/server/policy"
)

// The model is told of a call that it repeats, and the turn ends if it does not stop. Nobody is asked
// under policies that never ask.
func TestARepeatedCallThatChangesNothingEndsTheTurn(t *testing.T) {
	for _, p := range []policy.Policy{policy.Full, policy.Deny} {
		t.Run(string(p), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tool := echo("read")
				tool.safe = true
				told := 0
				r := newRig(t, "chat", "qwen", func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
					if strings.Contains(string(r.Body), "made this call several times") && told == 0 {
						told = r.N
					}
					out.Call("read", x("same"))
				}, tool)
				r.opts.Config.Policy = p
				r.open(nil)
				end, err := r.send(t.Context(), "go")
				if err != nil || end.Reason != protocol.ReasonLoop {
					t.Errorf("the turn ends with %+v, %v", end, err)
				}
				if n := len(r.results()); n != maxRepeats || told != toldRepeats || len(r.asked) > 0 {
					t.Errorf("%d calls, told with request %d, asked %+v", n, told, r.asked)
				}
				checkPairs(t, r.conversation(t))
			})
		})
	}
}

// A test that fails again after each edit is the ordinary work of an agent.
func TestACallIsNotRepeatedAfterAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run, edit := echo("shell"), echo("edit")
		run.safe, edit.kind = true, protocol.ToolEdit
		r := newRig(t, "chat", "qwen", func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
			switch {
			case r.N > 40:
				out.Text("done")
			case r.N%2 == 0:
				out.Call("shell", x("make test"))
			default:
				out.Call("edit", x("same"))
			}
		}, run, edit)
		r.opts.Config.Policy = policy.Full
		r.open(nil)
		end, err := r.send(t.Context(), "go")
		if err != nil || end.Reason != protocol.ReasonCompleted || len(r.asked) > 0 {
			t.Errorf("the turn ends with %+v, %v, asked %+v", end, err, r.asked)
		}
	})
}

func TestTheCallsOfTheLastTenStepsAreCompared(t *testing.T) {
	var r recentCalls
	call := func(step int, input, result string) int {
		return r.add(step, &model.Call{Name: "read", Input: []byte(input)}, &model.Result{Text: result}, false)
	}
	for step, c := range []struct {
		input, result string
		want          int
	}{
		{"a", "1", 1},
		{"a", "1", 2},
		{"a", "2", 1},
		{"b", "1", 1},
		{"a", "1", 3},
		{"c", "", 1},
		{"c", "", 2},
		{"c", "", 3},
		{"c", "", 4},
		{"a", "1", 4},
		{"a", "1", 4},
	} {
		if got := call(step, c.input, c.result); got != c.want {
			t.Errorf("step %d: %d equal calls, want %d", step, got, c.want)
		}
	}
	if got := call(10, "a", "1"); got != 4 {
		t.Errorf("a parallel call counts as %d", got)
	}
	if r.add(11, &model.Call{Name: "edit"}, &model.Result{}, true); len(r) > 0 {
		t.Errorf("after a change there are %v", r)
	}
}
