package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
)

// newReadyAgent returns a started agent without the events of its start.
func newReadyAgent(t *testing.T, traits string) *testAgent {
	t.Helper()
	r := newTestAgent(t, traits, connected)
	r.run("think of nothing")
	r.waitFor(t, "the options", func() bool {
		for _, e := range r.events {
			if e.Type == protocol.AgentOptions && e.Data.(protocol.Options).Commands != nil {
				return true
			}
		}
		return false
	})
	r.clear()
	return r
}

func TestToolCallsAreUpserted(t *testing.T) {
	for name, test := range map[string]struct{ steps, want string }{
		"a call and its updates": {`say before
update {"sessionUpdate":"tool_call","toolCallId":"c1","title":"bash","kind":"execute","status":"pending","rawInput":{}}
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress","title":"ls -l","rawInput":{"command":"ls -l"},"locations":[{"path":"/tmp","line":3}]}
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress","title":"ls -l","rawInput":{"command":"ls -l"}}
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[{"type":"content","content":{"type":"text","text":"one\n"}}]}
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[{"type":"content","content":{"type":"text","text":"one\ntwo\n"}}]}
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"one\ntwo\n"}}],"rawOutput":{"output":"one\ntwo\n","metadata":{"exit":0}}}
say after`, `
text.start {"part":"p1"}
text.delta {"part":"p1","text":"before"}
text.end {"part":"p1"}
tool.started {"kind":"execute","title":"bash","tool":"turn/c1"}
tool.started {"input":{"command":"ls -l"},"locations":[{"line":3,"path":"/tmp"}],"title":"ls -l","tool":"turn/c1"}
tool.output {"text":"one\n","tool":"turn/c1"}
tool.output {"text":"two\n","tool":"turn/c1"}
tool.ended {"exit_code":0,"output":{"metadata":{"exit":0},"output":"one\ntwo\n"},"status":"completed","tool":"turn/c1"}
text.start {"part":"p2"}
text.delta {"part":"p2","text":"after"}
`},
		"the same call reported twice": {`update {"sessionUpdate":"tool_call","toolCallId":"c","title":"x","kind":"read"}
update {"sessionUpdate":"tool_call","toolCallId":"c","title":"x","kind":"read"}
update {"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}
update {"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`, `
tool.started {"kind":"read","title":"x","tool":"turn/c"}
tool.ended {"status":"completed","tool":"turn/c"}
raw {"data":{"sessionId":"SES","update":{"sessionUpdate":"tool_call_update","status":"completed","toolCallId":"c"}},"method":"session/update","source":"acp"}
`},
		"an update of a call never reported": {`update {"sessionUpdate":"tool_call_update","toolCallId":"c","title":"x","kind":"odd","status":"failed","rawOutput":{"error":"no such file"}}`, `
tool.started {"kind":"other","title":"x","tool":"turn/c"}
tool.ended {"error":"no such file","output":{"error":"no such file"},"status":"failed","tool":"turn/c"}
`},
		"a kind that says less than before": {
			`update {"sessionUpdate":"tool_call","toolCallId":"c","title":"x","kind":"other"}
update {"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"execute"}
update {"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"other"}`, `
tool.started {"kind":"other","title":"x","tool":"turn/c"}
tool.started {"kind":"execute","tool":"turn/c"}
`,
		},
		"output only in rawOutput": {`update {"sessionUpdate":"tool_call","toolCallId":"c","title":"x"}
update {"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":"just text"}`, `
tool.started {"title":"x","tool":"turn/c"}
tool.output {"text":"just text","tool":"turn/c"}
tool.ended {"status":"completed","tool":"turn/c"}
`},
		"content that is replaced": {`update {"sessionUpdate":"tool_call","toolCallId":"c","title":"x","content":[{"type":"content","content":{"type":"text","text":"50%"}}]}
update {"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"content","content":{"type":"text","text":"99%"}}]}
update {"sessionUpdate":"tool_call_update","toolCallId":"c","content":[]}`, `
tool.started {"title":"x","tool":"turn/c"}
tool.output {"text":"50%","tool":"turn/c"}
tool.output {"replace":true,"text":"99%","tool":"turn/c"}
tool.output {"replace":true,"tool":"turn/c"}
`},
		"diffs, images and what is new": {`update {"sessionUpdate":"tool_call","toolCallId":"c","title":"x","kind":"edit","content":[{"type":"diff","path":"/a","oldText":null,"newText":"n"},{"type":"content","content":{"type":"image","mimeType":"image/png","data":"AAAA"}},{"type":"content","content":{"type":"resource","resource":{"uri":"file:///a.pdf","mimeType":"application/pdf","blob":"AAAA"}}},{"type":"content","content":{"type":"audio","mimeType":"audio/wav","data":"AAAA"}},{"type":"content","content":{"type":"resource_link","uri":"https://example.org/p.svg","name":"p","title":"The plot","mimeType":"image/svg+xml","size":7}},{"type":"content","content":{"type":"text","text":"note"}},{"type":"hologram","z":1}]}`, `
tool.started {"kind":"edit","title":"x","tool":"turn/c"}
tool.output {"content":[{"new":"n","path":"/a","type":"diff"},{"data":"AAAA","media_type":"image/png","type":"image"},{"data":"AAAA","media_type":"application/pdf","path":"file:///a.pdf","type":"blob"},{"data":"AAAA","media_type":"audio/wav","type":"audio"},{"bytes":7,"media_type":"image/svg+xml","name":"The plot","path":"https://example.org/p.svg","type":"link"},{"text":"note","type":"text"},{"data":{"type":"hologram","z":1},"type":"other"}],"replace":true,"tool":"turn/c"}
`},
		"a plan": {`update {"sessionUpdate":"plan","entries":[{"content":"a","priority":"high","status":"completed"},{"content":"b","status":"in_progress"},{"content":"c","status":"pending"}]}
update {"sessionUpdate":"plan","entries":[{"content":"a","status":"completed"}]}`, `
plan.updated {"tasks":[{"id":"1","status":"completed","title":"a"},{"id":"2","status":"running","title":"b"},{"id":"3","status":"pending","title":"c"}]}
plan.completed {"tasks":[{"id":"1","status":"completed","title":"a"}]}
`},
		"the context": {`update {"sessionUpdate":"usage_update","used":50,"size":200}`, `
context.updated {"max_tokens":200,"percent":25,"tokens":50,"transcript_length":0}
`},
		"what is unknown": {`update {"sessionUpdate":"session_info_update","title":"T"}
update {"sessionUpdate":"agent_message_chunk","content":{"type":"hologram","data":"AA"}}
update {"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":""}}
line {"jsonrpc":"2.0","method":"_vendor/thing","params":{"a":1}}
line not JSON at all
bytes 7b226d6574686f64223a2278ff227d`, `
session.updated {"title":"T"}
raw {"data":{"sessionId":"SES","update":{"content":{"data":"AA","type":"hologram"},"sessionUpdate":"agent_message_chunk"}},"method":"session/update","source":"acp"}
raw {"data":{"sessionId":"SES","update":{"content":{"data":"","type":"image"},"sessionUpdate":"agent_message_chunk"}},"method":"session/update","source":"acp"}
raw {"data":{"a":1},"method":"_vendor/thing","source":"acp"}
raw {"data":"not JSON at all","source":"acp"}
raw {"method":"x` + "\uFFFD" + `","source":"acp"}
`},
		"mistyped fields": {`update {"sessionUpdate":"tool_call","toolCallId":"c","title":7,"kind":"read","locations":"here","content":"text"}`, `
tool.started {"kind":"read","tool":"turn/c"}
tool.output {"content":[{"data":"text","type":"other"}],"replace":true,"tool":"turn/c"}
`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReadyAgent(t, "plain")
			r.run(strings.Split(test.steps, "\n")...)
			r.wantEvents(strings.ReplaceAll(test.want, "SES", r.client.session))
		})
	}
}

func TestRequestsThatWereNeverOfferedAreRefused(t *testing.T) {
	r := newTestAgent(t, "plain", connected)
	r.run("request fs/read_text_file", "request terminal/create", "request elicitation/other")
	r.wantText("fs/read_text_file: -32601terminal/create: -32601elicitation/other: -32601")
}

func TestUpdatesOutsideOfATurnAreKept(t *testing.T) {
	r := newReadyAgent(t, "plain")
	c := r.client
	c.HandleNotification("session/update", json.RawMessage(`{"sessionId":"`+c.session+`","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"late words"}}}`))
	if raw := r.data(protocol.Raw); len(raw) != 1 ||
		!strings.Contains(string(raw[0].(protocol.RawData).Data), "late words") {
		t.Errorf("got %s", r.eventLines())
	}
	r.run("after more words")
	r.waitFor(t, "the words in the turn or after it", func() bool {
		for _, e := range r.events {
			if b, _ := protocol.Encode(e.Data); strings.Contains(string(b), "more words") {
				return true
			}
		}
		return false
	})
}

func TestNoiseBeforeTheFirstMessageIsSurvived(t *testing.T) {
	r := newTestAgent(t, "noise", connected)
	r.run("say hi")
	r.wantText("hi")
}

func TestLongLinesAndBurstsComeWhole(t *testing.T) {
	r := newTestAgent(t, "plain")
	r.run("big 2000000", "burst 2000")
	var want strings.Builder
	want.WriteString(strings.Repeat("x", 2000000))
	for i := range 2000 {
		fmt.Fprintf(&want, "%d ", i)
	}
	if got := r.text(); got != want.String() {
		t.Errorf("got %d of %d bytes", len(got), want.Len())
	}
}

func TestASlowSessionSlowsTheAgentAndLosesNothing(t *testing.T) {
	r := newReadyAgent(t, "plain")
	r.block = make(chan struct{})
	go func() {
		for range 5 {
			r.block <- struct{}{}
		}
		close(r.block)
	}()
	r.run("burst 3000")
	if got := strings.Count(r.text(), " "); got != 3000 {
		t.Errorf("got %d of 3000 chunks", got)
	}
}

const ask = `{"toolCallId":"c","title":"rm -rf x","kind":"execute","status":"pending","rawInput":{"command":"rm -rf x","description":"tidy up"},"content":[{"type":"content","content":{"type":"text","text":"because"}}]}`

func TestAVerdictPicksTheAgentsOwnOption(t *testing.T) {
	verdict := func(o protocol.Outcome, option string) agent.Verdict {
		return agent.Verdict{Outcome: o, Option: option}
	}
	for name, test := range map[string]struct {
		step    string
		verdict agent.Verdict
		want    string
	}{
		"allow": {"ask " + ask, verdict(protocol.Allowed, ""), "selected opt-0-allow_once"},
		"always is our rule": {
			"ask " + ask, verdict(protocol.Allowed, "allow_always"),
			"selected opt-0-allow_once",
		},
		"deny":      {"ask " + ask, verdict(protocol.Denied, ""), "selected opt-2-reject_once"},
		"expired":   {"ask " + ask, verdict(protocol.Expired, ""), "selected opt-2-reject_once"},
		"cancelled": {"ask " + ask, verdict(protocol.Cancelled, ""), "cancelled"},
		"the very option": {
			"askwith allow_once,allow_once,reject_once " + ask,
			verdict(protocol.Allowed, "opt-0-allow_once"), "selected opt-0-allow_once",
		},
		"only a lasting permission": {
			"askwith allow_always,reject_once " + ask, verdict(protocol.Allowed, ""),
			"selected opt-0-allow_always",
		},
		"only a lasting refusal": {
			"askwith allow_once,reject_always " + ask, verdict(protocol.Denied, ""),
			"selected opt-1-reject_always",
		},
		"no way to refuse": {"askwith allow_once " + ask, verdict(protocol.Denied, ""), "cancelled"},
		"an option of the other kind": {
			"ask " + ask, verdict(protocol.Denied, "opt-0-allow_once"),
			"selected opt-2-reject_once",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestAgent(t, "plain", connected)
			r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) { return test.verdict, nil }
			r.run(test.step)
			r.wantText(test.want)
		})
	}
}

func TestPermissionRequestsBecomeApprovals(t *testing.T) {
	options := []protocol.Option{
		{ID: "opt-2-reject_once", Kind: protocol.Deny, Label: "Do reject_once"},
		{ID: "opt-0-allow_once", Kind: protocol.AllowOnce, Label: "Do allow_once"},
	}
	for name, test := range map[string]struct {
		call string
		want protocol.Approval
	}{
		"a command": {ask, protocol.Approval{
			Kind: protocol.ApproveCommand, Title: "rm -rf x", Command: "rm -rf x", CWD: "CWD", Why: "because",
			Tool:  "turn/c",
			Input: json.RawMessage(`{"command":"rm -rf x","description":"tidy up"}`), Options: options,
		}},
		"a command in words": {`{"toolCallId":"c","title":"t","kind":"execute","rawInput":{"command":["bash","-lc","echo 'a b'"],"cwd":"/w"}}`, protocol.Approval{
			Kind: protocol.ApproveCommand, Title: "t", Command: "echo 'a b'", CWD: "/w", Tool: "turn/c",
			Input: json.RawMessage(`{"command":["bash","-lc","echo 'a b'"],"cwd":"/w"}`), Options: options,
		}},
		"a command with a title alone": {
			`{"toolCallId":"c","title":"make all","kind":"execute"}`,
			protocol.Approval{
				Kind: protocol.ApproveCommand, Title: "make all", CWD: "CWD", Tool: "turn/c", Options: options,
			},
		},
		"a command in another form": {`{"toolCallId":"c","title":"Run","kind":"execute","rawInput":{"cmd":"make all"}}`, protocol.Approval{
			Kind: protocol.ApproveCommand, Title: "Run", CWD: "CWD", Tool: "turn/c",
			Input: json.RawMessage(`{"cmd":"make all"}`), Options: options,
		}},
		"an editor's command": {`{"toolCallId":"c","title":"Create /a","kind":"edit","locations":[{"path":"/a"}],"rawInput":{"command":"create"}}`, protocol.Approval{
			Kind: protocol.ApprovePatch, Title: "Create /a", CWD: "CWD", Tool: "turn/c", Paths: []string{"/a"},
			Input: json.RawMessage(`{"command":"create"}`), Options: options,
		}},
		"another tool's command": {`{"toolCallId":"c","title":"Browser","kind":"other","rawInput":{"command":"click"}}`, protocol.Approval{
			Kind: protocol.ApproveTool, Title: "Browser", CWD: "CWD", Tool: "turn/c",
			Input: json.RawMessage(`{"command":"click"}`), Options: options,
		}},
		"an edit": {`{"toolCallId":"c","title":"Write /a","kind":"edit","locations":[{"path":"/a"}],"content":[{"type":"diff","path":"/a","oldText":null,"newText":"n"},{"type":"diff","path":"/b","oldText":null,"newText":"m"}]}`, protocol.Approval{
			Kind: protocol.ApprovePatch, Title: "Write /a", CWD: "CWD", Tool: "turn/c", Paths: []string{
				"/a",
				"/b",
			}, Options: options,
			Content: []protocol.Content{{Type: "diff", Path: "/a", New: "n"}, {Type: "diff", Path: "/b", New: "m"}},
		}},
		"a deletion": {
			`{"toolCallId":"c","title":"Delete /a","kind":"delete","locations":[{"path":"/a"}],"content":[{"type":"diff","path":"/a","newText":""}],"_meta":{"claudeCode":{"toolName":"Delete"}}}`, protocol.Approval{
				Kind: protocol.ApproveTool, Title: "Delete /a", CWD: "CWD", Tool: "turn/c", Paths: []string{"/a"},
				Options: options,
				Content: []protocol.Content{{Type: "diff", Path: "/a"}},
			},
		},
		"a tool": {`{"toolCallId":"c","title":"Fetch x","kind":"fetch","_meta":{"claudeCode":{"toolName":"WebFetch"}}}`, protocol.Approval{
			Kind: protocol.ApproveTool, Title: "Fetch x", Name: "WebFetch", CWD: "CWD", Tool: "turn/c",
			Options: options,
		}},
		"nothing at all": {`{}`, protocol.Approval{
			Kind: protocol.ApproveTool, Title: "run a tool", CWD: "CWD", Options: options,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestAgent(t, "plain", connected)
			r.run("ask " + test.call)
			test.want.CWD = strings.Replace(test.want.CWD, "CWD", r.spec.CWD, 1)
			if len(r.asked) != 1 || !reflect.DeepEqual(r.asked[0], test.want) {
				t.Errorf("asked\n%+v\nwant\n%+v", r.asked, test.want)
			}
		})
	}
}

func TestACommandIsAskedForWithItsDirectory(t *testing.T) {
	request := func(fields string) string {
		return `ask {"toolCallId":"c","title":"make","kind":"execute"` + fields + `}`
	}
	update := func(input string) string {
		return `update {"sessionUpdate":"tool_call","toolCallId":"c","title":"make","kind":"execute","rawInput":` + input + `}`
	}
	withText := func(text string) string {
		return request(`,"content":[{"type":"content","content":{"type":"text","text":"` + text + `"}}]`)
	}
	for name, test := range map[string]struct {
		want  string
		steps []string
	}{
		"the session's":    {"", []string{request("")}},
		"of the arguments": {"/w", []string{request(`,"rawInput":{"command":"make","cwd":"/w"}`)}},
		"of the call": {
			"/w",
			[]string{update(`{"command":"make","cwd":"/w"}`), request(`,"rawInput":{"command":"make"}`)},
		},
		"two directories": {"", []string{
			update(`{"command":"make","cwd":"/w","workdir":"/near"}`),
			request(`,"rawInput":{"command":"make"}`),
		}},
		"in the text beside arguments": {
			"",
			[]string{request(`,"rawInput":{"command":"make"},"content":[{"type":"content","content":{"type":"text","text":"[in /w]"}}]`)},
		},
		"below the session's":         {"sub", []string{request(`,"rawInput":{"command":"make","workdir":"sub"}`)}},
		"in the text":                 {"sub", []string{withText("[in sub] (builds it) [background]")}},
		"in text without a directory": {"", []string{withText("[current working directory /x] (builds it)")}},
		"in malformed text":           {"", []string{withText("[in ")}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestAgent(t, "plain", connected)
			r.run(test.steps...)
			want := test.want
			if !filepath.IsAbs(want) {
				want = filepath.Join(r.spec.CWD, want)
			}
			if got := r.asked[0]; got.CWD != want {
				t.Errorf("asked in %s, want %s", got.CWD, want)
			}
		})
	}
}

func TestAChangeOfModeIsAChoice(t *testing.T) {
	r := newTestAgent(t, "plain", connected)
	r.decide = func(_ context.Context, a protocol.Approval) (agent.Verdict, error) {
		return agent.Verdict{Outcome: protocol.Allowed, Option: "opt-1-allow_always"}, nil
	}
	r.run(`askwith allow_once,allow_always,reject_once {"toolCallId":"c","title":"Ready to code?","kind":"switch_mode"}`)
	r.wantText("selected opt-1-allow_always")
	if r.asked[0].Name != "" {
		t.Errorf("a rule could match %q", r.asked[0].Name)
	}
	for _, o := range r.asked[0].Options {
		if o.Kind == protocol.AllowAlways {
			t.Errorf("%+v creates a rule", o)
		}
	}
}

func TestAToolThatWasDeniedEndsAsDenied(t *testing.T) {
	for name, last := range map[string]string{
		"ended by the agent":     `update {"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"}`,
		"not ended by the agent": `think of something else`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newReadyAgent(t, "plain")
			r.run("ask "+ask, last)
			ended := r.data(protocol.ToolEnded)
			if len(ended) != 1 || ended[0].(protocol.ToolEndedData).Status != protocol.ToolDenied {
				t.Errorf("got\n%s", r.eventLines())
			}
		})
	}
}

func TestToolsWhoseLongIDsBeginAlikeAreNotOne(t *testing.T) {
	r := newReadyAgent(t, "plain")
	id := strings.Repeat("x", 300)
	r.run(`update {"sessionUpdate":"tool_call","toolCallId":"`+id+`1","title":"one"}`,
		`update {"sessionUpdate":"tool_call","toolCallId":"`+id+`2","title":"two"}`)
	all := r.data(protocol.ToolStarted)
	if len(all) != 2 || all[0].(protocol.ToolStartedData).Tool == all[1].(protocol.ToolStartedData).Tool {
		t.Errorf("got\n%s", r.eventLines())
	}
}

func TestDeniedToolsEndInAFixedOrder(t *testing.T) {
	r := newReadyAgent(t, "plain")
	var prompts []string
	for _, id := range []string{"f", "e", "d", "c", "b", "a"} {
		prompts = append(prompts, "ask "+strings.Replace(ask, `"c"`, `"`+id+`"`, 1))
	}
	r.run(append(prompts, "think of something else")...)
	var got strings.Builder
	for _, d := range r.data(protocol.ToolEnded) {
		id := d.(protocol.ToolEndedData).Tool
		got.WriteString(id[strings.LastIndexByte(id, '/')+1:])
	}
	if got.String() != "abcdef" {
		t.Errorf("order %q", got.String())
	}
}

func TestTheAgentContinuesDuringAPermissionRequest(t *testing.T) {
	r := newTestAgent(t, "plain", connected)
	r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
		r.waitFor(t, "text during the request", func() bool { return strings.Contains(textOf(r.events), "meanwhile") })
		return agent.Verdict{Outcome: protocol.Allowed}, nil
	}
	r.run("askon " + ask)
	r.wantText("meanwhile selected opt-0-allow_once")
}

func TestAnInterruptAnswersOpenRequestsAsCancelled(t *testing.T) {
	for name, verdict := range map[string]agent.Verdict{
		"cancelled":             {Outcome: protocol.Cancelled},
		"denied with deny_stop": {Outcome: protocol.Denied, Decision: protocol.DenyStop},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestAgent(t, "plain", connected)
			ctx, cancel := context.WithCancel(t.Context())
			r.decide = func(ctx context.Context, _ protocol.Approval) (agent.Verdict, error) {
				cancel()
				<-ctx.Done()
				return verdict, nil
			}
			end, err := r.tryRun(ctx, "ask "+ask, "hang")
			if err != nil || end.Reason != protocol.ReasonInterrupted {
				t.Errorf("ended %+v, %v", end, err)
			}
			r.wantText("cancelled")
		})
	}
}

func TestSettingsAreRestoredInTheOrderOfTheAgent(t *testing.T) {
	s := &settings{}
	for _, id := range []string{"model", "effort", "brave"} {
		s.upsert(protocol.Setting{ID: id}, selectSetting)
	}
	got := s.sortIDs(map[string]string{
		"speed": "fast", "brave": "true", "effort": "high", "colour": "red",
		"model": "large",
	})
	if want := []string{"model", "effort", "brave", "colour", "speed"}; !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}

func TestSettingsAreSetEmittedAndRestored(t *testing.T) {
	r := newTestAgent(t, "modes,models,config,load", connected)
	r.run("option mode")
	r.waitFor(t, "options", func() bool { return len(r.events) > 0 })
	var got protocol.Options
	r.waitFor(t, "the options", func() bool {
		for _, e := range r.events {
			if o, ok := e.Data.(protocol.Options); ok {
				got = o
			}
		}
		return got.Commands != nil
	})
	want := protocol.Options{
		Name: "Fake Agent", Version: "1.2.3",
		Commands: []protocol.SlashCommand{{Name: "init", About: "writes a file", Hint: "which"}},
		Settings: []protocol.Setting{
			{
				ID: "mode", Name: "Mode", Value: "ask",
				Choices: []protocol.Choice{{ID: "ask", Label: "Ask", About: "asks"}, {ID: "yolo", Label: "Yolo"}},
			},
			{
				ID: "model", Name: "Model", Value: "small",
				Choices: []protocol.Choice{{ID: "small", Label: "Small"}, {ID: "large", Label: "Large"}},
			},
			{
				ID: "effort", Name: "Effort", Value: "low",
				Choices: []protocol.Choice{{ID: "low", Label: "Low"}, {ID: "high", Label: "High", About: "slow"}},
			},
			{
				ID: "brave", Name: "Brave", Value: "false",
				Choices: []protocol.Choice{{ID: "true", Label: "On"}, {ID: "false", Label: "Off"}},
			},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}

	if first := r.data(protocol.AgentOptions)[0].(protocol.Options); len(first.Settings) != len(want.Settings) {
		t.Errorf("emitted before all settings were known: %+v", first)
	}

	chosen := map[string]string{"mode": "yolo", "model": "large", "effort": "high", "brave": "true"}
	for id, value := range chosen {
		if err := r.Configure(t.Context(), id, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Configure(t.Context(), "mode", "nonsense"); protocol.CodeOf(err) != protocol.CodeInvalidMessage {
		t.Errorf("got %v", err)
	}
	if err := r.Configure(t.Context(), "colour", "red"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("got %v", err)
	}
	all := r.data(protocol.AgentOptions)
	for _, s := range all[len(all)-1].(protocol.Options).Settings {
		if s.Value != chosen[s.ID] {
			t.Errorf("%s is %s", s.ID, s.Value)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	next := r.restart("modes,models,config,load")
	next.run("option mode", "option model", "option effort", "option brave")
	next.wantText("mode is yolomodel is largeeffort is highbrave is true")
}

func TestPartsOfAMessageReachTheAgentOrAreNamed(t *testing.T) {
	c := &client{config: Config{Name: "Fake"}}
	c.agentInfo.Capabilities.Prompt.Image = true
	r := &recorder{changed: make(chan struct{}, 1)}
	tn := newTurn(t.Context(), "turn", r, "/", catalog.Agent{})
	got := c.promptBlocks(protocol.Message{Text: "look", Parts: []protocol.Part{
		{Type: "image", URL: "data:image/png;base64,AAAA"},
		{Type: "file", URL: "file:///a/b.txt"},
		{Type: "mention", Text: "@x"},
		{Type: "audio", URL: "data:audio/wav;base64,AA"},
	}}, tn)
	want := []block{
		{Type: "text", Text: "look"},
		{Type: "image", MIMEType: "image/png", Data: "AAAA"},
		{Type: "resource_link", URI: "file:///a/b.txt", Name: "b.txt"},
		{Type: "text", Text: "@x"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if n := r.data(protocol.Notice); len(n) != 1 || !strings.Contains(n[0].(protocol.NoticeData).Message, "audio") {
		t.Errorf("notices %+v", n)
	}
	files := protocol.Message{Text: "look", Parts: []protocol.Part{
		{Type: "file", Name: "a b.log", MediaType: "text/plain", Text: "FAIL"},
		{Type: "file", Name: "a.pdf", URL: "data:application/pdf;base64,AAAA"},
		{Type: "audio", URL: "data:audio/wav;base64,AA"},
	}}
	text, wav := block{Type: "text", Text: "look"}, block{Type: "audio", MIMEType: "audio/wav", Data: "AA"}
	c.agentInfo.Capabilities.Prompt.Audio = true
	if got, want := c.promptBlocks(files, tn), []block{
		text, {Type: "text", Text: "\n\nFile a b.log:\n\nFAIL"}, wav,
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("without embedded context: got %+v", got)
	}
	notices := r.data(protocol.Notice)
	if len(notices) != 2 || !strings.Contains(notices[1].(protocol.NoticeData).Message, "a.pdf was left out") {
		t.Errorf("notices %+v", notices)
	}
	c.agentInfo.Capabilities.Prompt.Embedded = true
	if got, want := c.promptBlocks(files, tn), []block{
		text,
		{Type: "resource", Resource: &resource{URI: "attachment:///a%20b.log", MIMEType: "text/plain", Text: "FAIL"}},
		{Type: "resource", Resource: &resource{URI: "attachment:///a.pdf", MIMEType: "application/pdf", Blob: "AAAA"}},
		wav,
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("with embedded context: got %+v", got)
	}
	if got := c.promptBlocks(protocol.Message{}, tn); len(got) != 1 {
		t.Errorf("blocks of an empty message: %+v", got)
	}
}

func TestFindKnowsPresetsAndCommands(t *testing.T) {
	t.Setenv("WHERE", "/opt/my agents")
	for name, want := range map[string][]string{
		"gemini":                       {"gemini", "--acp"},
		"opencode":                     {"opencode", "acp"},
		`acp:agent --flag "two words"`: {"agent", "--flag", "two words"},
		`acp:"$WHERE/run" x`:           {"/opt/my agents/run", "x"},
	} {
		c, err := Find(name)
		if err != nil || !reflect.DeepEqual(c.Command, want) {
			t.Errorf("%s is %q, %v", name, c.Command, err)
		}
	}
	for _, name := range []string{"nobody", "acp:", "acp:   ", `acp:"open`, ""} {
		if _, err := Find(name); protocol.CodeOf(err) != protocol.CodeNoAgent {
			t.Errorf("%q: %v", name, err)
		}
	}
	for i, p := range catalog.Presets() {
		if c, err := Find(p.Name); err != nil || c.Name == "" || i > 0 && catalog.Presets()[i-1].Name >= p.Name {
			t.Errorf("preset %s: %v", p.Name, err)
		}
	}
}
