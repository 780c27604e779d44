package acp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
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
			r := newTestAgent(t, "plain", connected)
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
	r := newTestAgent(t, "plain", connected)
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
	s := shownArguments{
		agent: new(catalog.Agent), inputs: []json.RawMessage{nil, []byte(`{"a":1,"b":{"c":2}}`), []byte(`["x"]`)},
	}
	for input, want := range map[string]bool{
		`{"a":1}`: true, `{"b":{ "c":2 }}`: true, `{"a":1,"b":{"c":2}}`: true, `["x"]`: true, `{}`: true,
		`{"a":2}`: false, `{"c":2}`: false, `["y"]`: false, `{"a":1,"a":1}`: false, `{"b":{"c":2,"d":0}}`: false,
	} {
		if got := s.cover([]byte(input)); got != want {
			t.Errorf("%s: covered: %t", input, got)
		}
	}
}

// Arguments in the forms of real agents: only what runs is compared. An agent may send the arguments
// of its call after the request.
func TestOnlyArgumentsThatRunSomethingElseAreChanged(t *testing.T) {
	const (
		zed = `"call_id":"c","turn_id":"t","command":["/bin/bash","-lc","ls"],"cwd":"/w",` +
			`"parsed_cmd":[{"type":"unknown","cmd":"ls"}]`
		zedRequest = `{"kind":"execute","title":"ls","rawInput":{` + zed + `,"started_at_ms":1795351017300,"reason":"test",` +
			`"proposed_execpolicy_amendment":["/bin/bash","-lc","ls"],"available_decisions":["approved","abort"]}}`
		bash  = `{"kind":"execute","title":"ls","rawInput":{"command":"ls"}}`
		write = `{"kind":"edit","title":"/w/a","locations":[{"path":"/w/a"}],"rawInput":{"filepath":"/w/a",` +
			`"diff":"Index: /w/a\n--- /w/a\n+++ /w/a\n@@ -0,0 +1,1 @@\n+x\n"},` +
			`"content":[{"type":"diff","path":"/w/a","oldText":"","newText":"x\n"}]}`
		edit = `{"kind":"edit","title":"/w/a","locations":[{"path":"/w/a"}],"rawInput":{"filepath":"/w/a","diff":"…"},` +
			`"content":[{"type":"diff","path":"/w/a","oldText":"1\n2\n2\n","newText":"3\n2\n2\n"}]}`
		editAll = `{"kind":"edit","title":"/w/a","locations":[{"path":"/w/a"}],"rawInput":{"filepath":"/w/a","diff":"…"},` +
			`"content":[{"type":"diff","path":"/w/a","oldText":"1\n2\n2\n","newText":"1\n3\n3\n"}]}`
	)
	for _, c := range []struct {
		agent, request, input string
		covered               bool
	}{
		{
			"codex-acp", zedRequest,
			`{` + zed + `,"process_id":"59407","started_at_ms":1795351017330,"source":"unified_exec_startup"}`, true,
		},
		{"codex-acp", zedRequest, `{` + zed + `,"process_id":59407}`, true},
		{"codex-acp", zedRequest, `{` + zed + `,"source":"rm -rf /"}`, false},
		{"codex-acp", zedRequest, `{` + zed + `,"source":["rm"]}`, false},
		{"codex-acp", zedRequest, `{` + zed + `,"process_id":{"a":1}}`, false},
		{"codex-acp", zedRequest, `{` + zed + `,"env":{"A":"1"}}`, false},
		{"codex-acp", zedRequest, `{` + zed + `,"sandbox_permissions":"require_escalated"}`, false},
		{"codex-acp", zedRequest, strings.Replace(`{`+zed+`}`, `"ls"],"cwd"`, `"rm"],"cwd"`, 1), false},
		{"codex-acp", zedRequest, strings.Replace(`{`+zed+`}`, `"/w"`, `"/"`, 1), false},
		{"OpenCode", zedRequest, `{` + zed + `,"process_id":"59407"}`, false}, // of another agent
		{"codex-acp", `{"kind":"other","title":"copy","rawInput":{"source":"a"}}`, `{"source":"b"}`, false},

		{"OpenCode", bash, `{"command":"ls","description":"Lists","cwd":"/w"}`, true},
		{"OpenCode", bash, `{"command":"ls","workdir":"/w/."}`, true},
		{"OpenCode", bash, `{"command":"ls","timeout":5000}`, true},
		{"OpenCode", bash, `{"command":"ls","cwd":"/"}`, false},
		{"OpenCode", bash, `{"command":"ls -l","cwd":"/w"}`, false},
		{"OpenCode", bash, `{"command":"ls","cwd":"/w","workdir":"/"}`, false},
		{"OpenCode", bash, `{"command":"ls","run_in_background":true}`, false},
		{"OpenCode", bash, `{"command":"ls","env":{}}`, false},

		{"OpenCode", write, `{"filePath":"/w/a","path":"/w/a","content":"x\n"}`, true},
		{"OpenCode", write, `{"filePath":"a","content":"x\n"}`, true},
		{"OpenCode", write, `{"filePath":"/w/b","path":"/w/a","content":"x\n"}`, false},
		{"OpenCode", write, `{"filePath":"/w/a","path":"/w/a","content":"y\n"}`, false},
		{"OpenCode", write, `{"filePath":"/w/a","content":"x\n","mode":"0755"}`, false},

		{"OpenCode", edit, `{"filePath":"a","oldString":"1","newString":"3"}`, true},
		{"OpenCode", edit, `{"filePath":"a","oldString":"1","newString":"3","replaceAll":false}`, true},
		{"OpenCode", edit, `{"filePath":"a","oldString":"1","newString":"4"}`, false},
		{"OpenCode", edit, `{"filePath":"b","oldString":"1","newString":"3"}`, false},
		{"OpenCode", edit, `{"filePath":"a","oldString":"1","newString":"3","path":"/etc/passwd"}`, false},
		{"OpenCode", edit, `{"filePath":"a","oldString":"2","newString":"3"}`, false}, // of two places one
		{"OpenCode", edit, `{"filePath":"a","oldString":"","newString":"3"}`, false},
		{"OpenCode", editAll, `{"filePath":"a","oldString":"2","newString":"3","replaceAll":true}`, true},
		{"OpenCode", editAll, `{"filePath":"a","oldString":"2","newString":"3","replaceAll":"yes"}`, false},
	} {
		turn := &turn{ctx: t.Context(), agent: catalog.Reported(c.agent), cwd: "/w"}
		p := new(permissionParams)
		if err := json.Unmarshal([]byte(c.request), &p.Tool); err != nil {
			t.Fatal(err)
		}
		_, s := turn.show(t.Context(), nil, p)
		if got := s.cover([]byte(c.input)); got != c.covered {
			t.Errorf("%s: %s: covered: %t", c.agent, c.input, got)
		}
		s.withdraw()
	}
}
