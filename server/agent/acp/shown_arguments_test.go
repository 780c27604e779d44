package acp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
)

const (
	callA  = `update {"sessionUpdate":"tool_call","toolCallId":"c","title":"Look","kind":"execute","rawInput":{"command":"ls"}}`
	allowA = `ask {"toolCallId":"c","title":"Look"}`
)

func changeTo(input string) string {
	return `update {"sessionUpdate":"tool_call_update","toolCallId":"c","rawInput":` + input + `}`
}

func allow(context.Context, protocol.Approval) (agent.Verdict, error) {
	return agent.Verdict{Outcome: protocol.Allowed, Decision: protocol.AllowOnce}, nil
}

// changes returns the texts of the notices about changed arguments.
func (r *testAgent) changes() (list []string) {
	for _, d := range r.data(protocol.Notice) {
		if n := d.(protocol.NoticeData); strings.Contains(n.Message, "changed the arguments") {
			list = append(list, n.Message)
		}
	}
	return list
}

func TestArgumentsThatChangeAfterTheDecisionAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		decide func(context.Context, protocol.Approval) (agent.Verdict, error)
		steps  []string
		want   int
	}{
		"other arguments": {allow, []string{changeTo(`{"command":"rm -rf /"}`)}, 1},
		"an environment":  {allow, []string{changeTo(`{"command":"ls","env":{"A":"1"}}`)}, 1},
		"twice the same":  {allow, []string{changeTo(`{"command":"rm"}`), changeTo(`{"command":"rm"}`)}, 1},
		"twice":           {allow, []string{changeTo(`{"command":"rm"}`), changeTo(`{"command":"rm x"}`)}, 2},
		"a description":   {allow, []string{changeTo(`{"command":"ls","description":"Lists"}`)}, 0},
		"another form":    {allow, []string{changeTo(`{ "command" : "l\u0073" }`)}, 0},
		"fewer":           {allow, []string{changeTo(`{}`)}, 0},
		"the name twice":  {allow, []string{changeTo(`{"command":"ls","command":"rm"}`)}, 1},
		"after a denial":  {deny, []string{changeTo(`{"command":"rm"}`)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestAgent(t, "plain")
			r.decide = c.decide
			r.run(append([]string{callA, allowA}, c.steps...)...)
			if got := r.changes(); len(got) != c.want || c.want > 0 && !strings.Contains(got[0], `"Look" after its request was allowed`) {
				t.Errorf("notices %q, want %d", got, c.want)
			}
			if len(r.asked) != 1 {
				t.Errorf("asked %d times", len(r.asked))
			}
		})
	}
}

// A request whose arguments change is withdrawn and asked again: the agent gets the decision about what
// it will run.
func TestARequestWhoseArgumentsChangeIsAskedAgain(t *testing.T) {
	r := newTestAgent(t, "plain")
	r.decide = func(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
		if a.Command == "ls" {
			<-ctx.Done() // withdrawn
			return agent.Verdict{}, ctx.Err()
		}
		return allow(ctx, a)
	}
	r.run(callA, `askthen {"ask":{"toolCallId":"c","rawInput":{"command":"ls"}},"then":`+
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","rawInput":{"command":"rm -rf /","cwd":"/"}}}`)
	if len(r.asked) != 2 || r.asked[1].Command != "rm -rf /" || r.asked[1].CWD != "/" ||
		string(r.asked[1].Input) != `{"command":"rm -rf /","cwd":"/"}` {
		t.Errorf("asked %+v", r.asked)
	}
	if got := r.changes(); len(got) != 1 || !strings.Contains(got[0], "while its request waited") {
		t.Errorf("notices %q", got)
	}
	if text := r.text(); !strings.Contains(text, "selected ") || !strings.Contains(text, "allow_once") {
		t.Errorf("the agent got %q", text)
	}
}

func TestFewerArgumentsAreCovered(t *testing.T) {
	s := shownArguments{inputs: []json.RawMessage{nil, []byte(`{"a":1,"b":{"c":2}}`), []byte(`["x"]`)}}
	for input, want := range map[string]bool{
		`{"a":1}`: true, `{"b":{ "c":2 }}`: true, `{"a":1,"b":{"c":2}}`: true, `["x"]`: true, `{}`: true,
		`{"a":2}`: false, `{"c":2}`: false, `["y"]`: false, `{"a":1,"a":1}`: false, `{"b":{"c":2,"d":0}}`: false,
	} {
		if got := s.cover([]byte(input)); got != want {
			t.Errorf("%s: covered: %t", input, got)
		}
	}
}
