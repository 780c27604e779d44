package acp

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
)

// knownTurn returns a client and its turn for an agent with the given quirks.
func knownTurn(t *testing.T, agent catalog.Agent) (*client, *turn, *recorder) {
	t.Helper()
	r := &recorder{decide: deny, changed: make(chan struct{}, 1)}
	c := newTestClient(r)
	tn := newTurn(t.Context(), "t", r, "/", agent)
	c.lane.setTurn(tn)
	t.Cleanup(func() { c.endTurn(tn) })
	return c, tn, r
}

// notify sends updates of the agent.
func notify(c *client, updates ...string) {
	for _, u := range updates {
		c.HandleNotification("session/update", []byte(`{"sessionId":"s","update":`+u+`}`))
	}
}

func toolEnd(t *testing.T, r *recorder) protocol.ToolEndedData {
	t.Helper()
	ends := r.data(protocol.ToolEnded)
	if len(ends) != 1 {
		t.Fatalf("%d ends of tools in\n%s", len(ends), r.eventLines())
	}
	return ends[0].(protocol.ToolEndedData)
}

func TestOutputAndExitStatusComeByEveryChannel(t *testing.T) {
	const call = `{"sessionUpdate":"tool_call","toolCallId":"c","title":"make","kind":"execute","content":[{"type":"terminal","terminalId":"c"}]}`
	update := func(fields string) string {
		return `{"sessionUpdate":"tool_call_update","toolCallId":"c",` + fields + `}`
	}
	for name, test := range map[string]struct {
		updates []string
		output  string
		exit    int
	}{
		"a terminal": {[]string{
			update(`"_meta":{"terminal_output_delta":{"data":"one\n"}}`),
			update(`"status":"completed","_meta":{"terminal_output_delta":{"data":"two\n"},"terminal_exit":{"exit_code":3}}`),
		}, "one\ntwo\n", 3},
		"a terminal, ended by empty content": {[]string{
			update(`"_meta":{"terminal_output":{"data":"one\n"},"terminal_exit":{"exit_code":3}}`),
			update(`"status":"completed","content":[]`),
		}, "one\n", 3},
		"a terminal, then content": {[]string{
			update(`"_meta":{"terminal_output_delta":{"data":"one\n"},"terminal_exit":{"exit_code":3}}`),
			update(`"status":"completed","content":[{"type":"content","content":{"type":"text","text":"note"}}]`),
		}, "note\none\n", 3},
		"raw output before the end": {[]string{
			update(`"rawOutput":{"stdout":"one\n","stderr":"bad\n","exit_code":3}`), update(`"status":"completed"`),
		}, "one\nbad\n", 3},
		"both streams in one": {[]string{
			update(`"status":"completed","rawOutput":{"stdout":"one\n","stderr":"bad\n","aggregated_output":"bad\none\n","exit_code":3}`),
		}, "bad\none\n", 3},
		"content of a raw output": {[]string{
			update(`"status":"completed","rawOutput":{"content":"one\n","contents":[{"type":"shell_exit","exitCode":3}]}`),
		}, "one\n", 3},
	} {
		t.Run(name, func(t *testing.T) {
			c, _, r := knownTurn(t, catalog.Agent{})
			notify(c, append([]string{call}, test.updates...)...)
			if got := toolOutputs(r.events)["t/c"]; got != test.output {
				t.Errorf("output %q, want %q", got, test.output)
			}
			if end := toolEnd(t, r); end.ExitCode == nil || *end.ExitCode != test.exit {
				t.Errorf("ended %+v", end)
			}
		})
	}
}

func TestTheTextForUsersOfAShellResultIsItsOutput(t *testing.T) {
	c, _, r := knownTurn(t, catalog.Agent{})
	report := func(output string) string {
		return `"content":[{"type":"content","content":{"type":"text","text":"Command: make\nOutput: ` + output + `"}}]`
	}
	notify(c,
		`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute",`+report("so far")+`}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed",`+report("one")+
			`,"rawOutput":{"type":"shell_result","text":"one\nSaved to /f","output":"one","exitCode":3,"notices":[]}}`,
	)
	if got := toolOutputs(r.events)["t/c"]; got != "one\nSaved to /f" {
		t.Errorf("output %q", got)
	}
	end := toolEnd(t, r)
	if end.ExitCode == nil || *end.ExitCode != 3 || !strings.Contains(string(end.Output), `"notices"`) {
		t.Errorf("ended %+v", end)
	}
}

func TestTheExitStatusOfAFailedCommandMayBeTheFirstLineOfItsOutput(t *testing.T) {
	three := 3
	claude := catalog.Agent{ExitLine: "Exit code "}
	for name, test := range map[string]struct {
		agent                   catalog.Agent
		kind, status, rawOutput string
		want                    *int
	}{
		"alone":               {claude, "execute", "failed", "Exit code 3", &three},
		"before the output":   {claude, "execute", "failed", `Exit code 3\nno such file`, &three},
		"printed":             {claude, "execute", "completed", "Exit code 3", nil},
		"printed later":       {claude, "execute", "failed", `denied\nExit code 3`, nil},
		"not a number":        {claude, "execute", "failed", "Exit code three", nil},
		"not a command":       {claude, "read", "failed", "Exit code 3", nil},
		"not of this agent":   {catalog.Agent{}, "execute", "failed", "Exit code 3", nil},
		"a number on its own": {catalog.Agent{}, "execute", "failed", "3", nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, _, r := knownTurn(t, test.agent)
			notify(c, `{"sessionUpdate":"tool_call","toolCallId":"c","kind":"`+test.kind+`","status":"`+test.status+
				`","rawOutput":"`+test.rawOutput+`"}`)
			if end := toolEnd(t, r); !reflect.DeepEqual(end.ExitCode, test.want) {
				t.Errorf("ended %+v", end)
			}
		})
	}
}

func TestMarkdownOfToolsIsOutputOrMarkedAsMarkdown(t *testing.T) {
	text := func(s string) protocol.Content { return protocol.Content{Type: contentText, Text: s} }
	marked := func(s string) protocol.Content {
		return protocol.Content{Type: contentText, Text: s, MediaType: mediaMarkdown}
	}
	for in, want := range map[string]protocol.Content{
		"plain":                         text("plain"),
		"```console\nhi\nthere\n```":    text("hi\nthere"),
		"```\n```\n":                    text(""),
		"````\n```go\nx\n```\n````":     text("```go\nx\n```"),
		"```\na\n```\nand\n```\nb\n```": marked("```\na\n```\nand\n```\nb\n```"),
		"See:\n```\na\n```":             marked("See:\n```\na\n```"),
		"```":                           marked("```"),
		"```not closed\na":              marked("```not closed\na"),
		"```\na```":                     marked("```\na```"),
		"with `code` in it":             text("with `code` in it"),
	} {
		if got := textContent(in, true); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v, want %+v", in, got, want)
		}
	}
	for markdown, want := range map[bool]string{true: "hi", false: "```\nhi\n```"} {
		c, _, r := knownTurn(t, catalog.Agent{Markdown: markdown})
		notify(c, `{"sessionUpdate":"tool_call","toolCallId":"c","content":[{"type":"content","content":{"type":"text","text":"`+
			"```\\nhi\\n```"+`"}}]}`)
		if got := toolOutputs(r.events)["t/c"]; got != want {
			t.Errorf("markdown %v: output %q", markdown, got)
		}
	}
	c, _, r := knownTurn(t, catalog.Agent{Markdown: true})
	notify(c, `{"sessionUpdate":"tool_call","toolCallId":"c","content":[{"type":"content","content":{"type":"text","text":"See:\n`+
		"```\\nhi\\n```"+`"}}]}`)
	out := r.data(protocol.ToolOutput)[0].(protocol.ToolOutputData)
	if len(out.Content) != 1 || out.Content[0].MediaType != mediaMarkdown {
		t.Errorf("output %+v", out)
	}
}

func TestTitlesDoNotRepeatTheNameOfTheTool(t *testing.T) {
	for title, want := range map[string]string{
		"Write x.txt": "x.txt", "Write: x.txt": "x.txt", "Writes": "Writes",
		"Write": "Write", "Write ": "Write ", "x": "x",
	} {
		if got := withoutName(title, "Write"); got != want {
			t.Errorf("%q is %q, want %q", title, got, want)
		}
	}
	c, _, r := knownTurn(t, catalog.Agent{})
	notify(c, `{"sessionUpdate":"tool_call","toolCallId":"c","name":"Write","title":"Write x.txt"}`)
	if d := r.data(protocol.ToolStarted)[0].(protocol.ToolStartedData); d.Name != "Write" || d.Title != "x.txt" {
		t.Errorf("started %+v", d)
	}
}

func TestTextAfterACallOrAPlanIsAnotherMessage(t *testing.T) {
	say := func(id string) string {
		return `{"sessionUpdate":"agent_message_chunk"` + id + `,"content":{"type":"text","text":"a"}}`
	}
	for name, test := range map[string]struct {
		id, between string
		want        int
	}{
		"a call that ends":  {"", `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`, 2},
		"a plan":            {"", `{"sessionUpdate":"plan","entries":[]}`, 2},
		"a call that works": {"", `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress"}`, 1},
		"one message": {
			`,"messageId":"m"`, `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, _, r := knownTurn(t, catalog.Agent{})
			notify(c, `{"sessionUpdate":"tool_call","toolCallId":"c"}`, say(test.id), test.between, say(test.id))
			if got := len(r.data(protocol.TextStart)); got != test.want {
				t.Errorf("%d messages, want %d", got, test.want)
			}
		})
	}
}

func TestFilesInMessagesStandBetweenPartsOfText(t *testing.T) {
	c, _, r := knownTurn(t, catalog.Agent{})
	chunk := func(content string) string {
		return `{"sessionUpdate":"agent_message_chunk","messageId":"m","content":` + content + `}`
	}
	notify(c,
		chunk(`{"type":"text","text":"see "}`),
		chunk(`{"type":"image","mimeType":"image/png","data":"AAAA","uri":"file:///a.png"}`),
		chunk(`{"type":"audio","mimeType":"audio/wav","data":"BBBB"}`),
		chunk(`{"type":"resource_link","uri":"file:///a","name":"a"}`),
		chunk(`{"type":"resource","resource":{"uri":"file:///b","text":" b"}}`),
		chunk(`{"type":"resource","resource":{"uri":"file:///c.pdf","blob":"CCCC"}}`),
		chunk(`{"type":"text","text":"above"}`))
	want := `text.start {"part":"p1"}
text.delta {"part":"p1","text":"see "}
text.end {"part":"p1"}
text.content {"content":{"data":"AAAA","media_type":"image/png","path":"file:///a.png","type":"image"}}
text.content {"content":{"data":"BBBB","media_type":"audio/wav","type":"audio"}}
text.content {"content":{"name":"a","path":"file:///a","type":"link"}}
text.content {"content":{"path":"file:///b","text":" b","type":"text"}}
text.content {"content":{"data":"CCCC","path":"file:///c.pdf","type":"blob"}}
text.start {"part":"p2"}
text.delta {"part":"p2","text":"above"}
`
	if got := r.eventLines(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMessagesWithoutAnEquivalentAreKeptAndLoggedOnce(t *testing.T) {
	c, _, r := knownTurn(t, catalog.Agent{})
	for range 3 {
		notify(c, `{"sessionUpdate":"brand_new","x":1}`)
		c.HandleNotification("_vendor/news", []byte(`{}`))
	}
	if got := len(r.data(protocol.Raw)); got != 6 || len(r.events) != 6 {
		t.Errorf("%d raw events in\n%s", got, r.eventLines())
	}
	if len(r.logs) != 2 || !strings.Contains(r.logs[0], "brand_new") || !strings.Contains(r.logs[1], "_vendor/news") {
		t.Errorf("logged %q", r.logs)
	}
}

func TestASessionInfoUpdateGivesTheTitleOrNothing(t *testing.T) {
	c, _, r := knownTurn(t, catalog.Agent{})
	notify(c, `{"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"active"}}}}`,
		`{"sessionUpdate":"session_info_update","title":"T"}`)
	if got := r.eventLines(); got != `session.updated {"title":"T"}`+"\n" {
		t.Errorf("got %s", got)
	}
}

func TestADenialThatEndsTheTurnIsNoInterrupt(t *testing.T) {
	for name, test := range map[string]struct {
		outcome protocol.Outcome
		steps   []string
		want    protocol.Reason
	}{
		"denied":    {protocol.Denied, []string{"ask " + ask, "stop cancelled"}, protocol.ReasonDenied},
		"expired":   {protocol.Expired, []string{"ask " + ask, "stop cancelled"}, protocol.ReasonDenied},
		"allowed":   {protocol.Allowed, []string{"ask " + ask, "stop cancelled"}, protocol.ReasonInterrupted},
		"continues": {protocol.Denied, []string{"ask " + ask}, protocol.ReasonCompleted},
		"not asked": {protocol.Denied, []string{"stop cancelled"}, protocol.ReasonInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestAgent(t, "plain", connected)
			r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
				return agent.Verdict{Outcome: test.outcome}, nil
			}
			if end := r.run(test.steps...); end.Reason != test.want {
				t.Errorf("ended %+v, want %s", end, test.want)
			}
		})
	}
}

func TestAFailureOfTheModelEndsTheTurnWithItsReason(t *testing.T) {
	status := `update {"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"systemError"}}}}`
	for name, test := range map[string]struct {
		steps   []string
		want    protocol.Reason
		message string
	}{
		"reported as the end of the turn": {
			[]string{"say half", status, `say {"type":"error","error":{"message":"no credit"}}`},
			protocol.ReasonError, "no credit",
		},
		"reported as text": {[]string{status, "say Out of luck"}, protocol.ReasonError, "Out of luck"},
		"without a reason": {[]string{status}, protocol.ReasonError, "the model failed"},
		"the length limit": {
			[]string{status, "say reason: max_output_tokens"}, protocol.ReasonMaxTokens, "reason: max_output_tokens",
		},
		"the length limit, an error": {
			[]string{"fail -32603 at max_output_tokens"}, protocol.ReasonMaxTokens, "at max_output_tokens",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestAgent(t, "plain", connected)
			if end := r.run(test.steps...); end.Reason != test.want || end.Message != test.message {
				t.Errorf("ended %+v", end)
			}
			if end := r.run("say again"); end.Reason != protocol.ReasonCompleted {
				t.Errorf("the next turn ended %+v", end)
			}
		})
	}
}

func TestAFailureInAMessageEndsATurnWithoutUsage(t *testing.T) {
	used := &protocol.Usage{Input: 9, Output: 2}
	for name, test := range map[string]struct {
		agent  catalog.Agent
		text   string
		usage  *protocol.Usage
		reason protocol.Reason
	}{
		"no usage":     {catalog.Agent{Failure: "Error: "}, "Error: 400 no", nil, protocol.ReasonError},
		"an answer":    {catalog.Agent{Failure: "Error: "}, "Error: 400 no", used, protocol.ReasonCompleted},
		"another text": {catalog.Agent{Failure: "Error: "}, "400 no", nil, protocol.ReasonCompleted},
		"not known":    {catalog.Agent{}, "Error: 400 no", nil, protocol.ReasonCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			c, tn, _ := knownTurn(t, test.agent)
			notify(c, `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`+test.text+`"}}`)
			end := tn.settle(agent.End{Reason: protocol.ReasonCompleted, Usage: test.usage})
			if end.Reason != test.reason {
				t.Errorf("ended %+v", end)
			}
			if failed := end.Reason == protocol.ReasonError; failed &&
				(end.Code != protocol.CodeAgentFailed || end.Message != test.text) {
				t.Errorf("ended %+v", end)
			}
		})
	}
}

func TestAToolWhoseRequestWasCancelledEndsAsCancelled(t *testing.T) {
	c, tn, r := knownTurn(t, catalog.Agent{})
	notify(c, `{"sessionUpdate":"tool_call","toolCallId":"c"}`)
	tn.recordVerdict(tn.tools["c"], protocol.Cancelled)
	notify(c, `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","rawOutput":"aborted"}`)
	if end := toolEnd(t, r); end.Status != protocol.ToolCancelled || end.Error != "" {
		t.Errorf("ended %+v", end)
	}
}
