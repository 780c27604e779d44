package acp

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentctl/internal/dev/requestcases"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
)

// qwenAsks is the _meta of a request of Qwen Code's tool for questions.
const qwenAsks = `{"toolName":"ask_user_question","qwenInteractionKind":"user_question","qwenQuestions":[{"question":"Which one?",` +
	`"header":"One","multiSelect":true,"options":[{"label":"a","description":"the first"},{"label":"b"}]}]}`

func TestAnswersAreSentByTheNumbersOfQuestions(t *testing.T) {
	questions := []protocol.Question{{ID: "0"}, {ID: "1"}, {ID: "2"}}
	v := agent.Verdict{Outcome: protocol.Allowed, Input: &protocol.ApprovalInput{
		Answers: map[string][]string{"0": {"a", "b, or c"}, "2": {"x"}, "3": {"of another question"}},
	}}
	want := map[string]string{"0": "a, b, or c", "2": "x"}
	if got := answersOf(questions, &v); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if v.Outcome = protocol.Denied; answersOf(questions, &v) != nil {
		t.Error("a denied request has answers")
	}
}

func TestARequestShowsWhatItsCallTold(t *testing.T) {
	const diff = `{"type":"diff","path":"/a","oldText":"x","newText":"y"}`
	old := "x"
	changes := []protocol.Content{{Type: "diff", Path: "/a", Old: &old, New: "y"}}
	for name, test := range map[string]struct {
		call, request string
		want          protocol.Approval
	}{
		"the diff": {
			`"kind":"edit","title":"Editing","content":[` + diff + `]`,
			`"title":"Edit","locations":[{"path":"/a"}]`,
			protocol.Approval{Kind: protocol.ApprovePatch, Title: "Edit", Content: changes, Paths: []string{"/a"}},
		},
		"the diff of the request": {
			`"kind":"edit","content":[{"type":"diff","path":"/b","newText":"n"}]`,
			`"title":"Edit","content":[` + diff + `]`,
			protocol.Approval{Kind: protocol.ApprovePatch, Title: "Edit", Content: changes, Paths: []string{"/a"}},
		},
		"locations, kind and title": {
			`"kind":"delete","title":"Delete /a","locations":[{"path":"/a"}]`,
			`"kind":"other"`,
			protocol.Approval{Kind: protocol.ApproveTool, Title: "Delete /a", Paths: []string{"/a"}},
		},
		"text": {
			`"kind":"fetch","title":"F","name":"Fetch","content":[{"type":"content","content":{"type":"text","text":"to read"}}]`,
			``,
			protocol.Approval{Kind: protocol.ApproveTool, Title: "F", Name: "Fetch", Why: "to read"},
		},
		"other content": {
			`"kind":"fetch","title":"F","content":[{"type":"hologram","z":1},{"type":"terminal","terminalId":"t"}]`,
			``,
			protocol.Approval{
				Kind: protocol.ApproveTool, Title: "F",
				Content: []protocol.Content{{Type: "other", Data: json.RawMessage(`{"type":"hologram","z":1}`)}},
			},
		},
		"arguments in addition to the request's": {
			`"kind":"execute","rawInput":{"command":"make","cwd":"/w","env":{"A":"1"}}`,
			`"title":"make","rawInput":{"command":"make"}`,
			protocol.Approval{
				Kind: protocol.ApproveCommand, Title: "make", CWD: "/w",
				Input: json.RawMessage(`{"command":"make","cwd":"/w","env":{"A":"1"}}`),
			},
		},
		"the directory of a command is no change": {
			`"kind":"execute","locations":[{"path":"/w"},{"path":"/w/x"}]`,
			`"title":"make","rawInput":{"command":"make","cwd":"/w"}`,
			protocol.Approval{
				Kind: protocol.ApproveCommand, Title: "make", Command: "make", CWD: "/w", Paths: []string{"/w/x"},
				Input: json.RawMessage(`{"command":"make","cwd":"/w"}`),
			},
		},
		"a patch in the arguments": {
			`"kind":"edit"`,
			`"title":"Edit","locations":[{"path":"/a"}],"rawInput":{"diff":"--- a\n+++ a\n"}`,
			protocol.Approval{
				Kind: protocol.ApprovePatch, Title: "Edit", Patch: "--- a\n+++ a\n", Paths: []string{"/a"},
				Input: json.RawMessage(`{"diff":"--- a\n+++ a\n"}`),
			},
		},
		"questions of Qwen Code": {
			`"kind":"think","title":"Ask user 1 question"`,
			`"kind":"think","rawInput":{"questions":[]},"_meta":` + qwenAsks,
			protocol.Approval{
				Kind: protocol.ApproveQuestion, Title: "Ask user 1 question", Questions: []protocol.Question{{
					ID: "0", Text: "Which one?", About: "One", Many: true, Choices: []protocol.Choice{
						{ID: "a", Label: "a", About: "the first"}, {ID: "b", Label: "b"},
					},
				}},
			},
		},
		"questions of a command": {
			`"kind":"execute","title":"Ask user 1 question","rawInput":{"command":"make"}`,
			`"kind":"think","_meta":` + qwenAsks,
			protocol.Approval{
				Kind: protocol.ApproveTool, Title: "Ask user 1 question", Input: json.RawMessage(`{"command":"make"}`),
			},
		},
		"questions that cannot be shown": {
			`"kind":"think","title":"Ask"`,
			`"_meta":` + strings.Replace(qwenAsks, `"label":"b"`, `"label":"a"`, 1),
			protocol.Approval{Kind: protocol.ApproveTool, Title: "Ask"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestAgent(t, "plain", connected)
			field := func(fields string) string {
				if fields == "" {
					return ""
				}
				return "," + fields
			}
			r.run(`update {"sessionUpdate":"tool_call","toolCallId":"c"`+field(test.call)+`}`,
				`ask {"toolCallId":"c"`+field(test.request)+`}`)
			got := r.asked[0]
			test.want.Tool, test.want.Options = "turn/c", got.Options
			if test.want.CWD == "" {
				test.want.CWD = r.spec.CWD
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("asked\n%+v\nwant\n%+v", got, test.want)
			}
		})
	}
}

func TestARequestDescribesOnlyACallThatToldNothing(t *testing.T) {
	const request = `ask {"toolCallId":"c","title":"rm x","kind":"execute","rawInput":{"command":"rm x"}}`
	for name, test := range map[string]struct{ call, title, input string }{
		"no call":           {`think of it`, "rm x", `{"command":"rm x"}`},
		"without arguments": {`update {"sessionUpdate":"tool_call","toolCallId":"c","title":"Shell","rawInput":{}}`, "rm x", `{"command":"rm x"}`},
		"with arguments": {
			`update {"sessionUpdate":"tool_call","toolCallId":"c","title":"Remove x","rawInput":{"command":"rm x","why":"tidy"}}`,
			"Remove x", `{"command":"rm x","why":"tidy"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestAgent(t, "plain", connected)
			r.run(test.call, request)
			title, input := "", ""
			for _, d := range r.data(protocol.ToolStarted) {
				started := d.(protocol.ToolStartedData)
				if started.Title != "" {
					title = started.Title
				}
				if started.Input != nil {
					input = string(started.Input)
				}
			}
			if title != test.title || input != test.input {
				t.Errorf("the call is %q with %s", title, input)
			}
		})
	}
}

func TestARequestHasTheCommandOfItsArguments(t *testing.T) {
	r := newTestAgent(t, "plain", connected)
	dir := r.spec.CWD
	kinds := map[string]string{
		protocol.ApproveCommand: protocol.ToolExecute, protocol.ApprovePatch: protocol.ToolEdit,
		protocol.ApproveTool: protocol.ToolFetch,
	}
	for _, c := range requestcases.All(dir) {
		want := c.Approval(dir)
		call := map[string]any{
			"toolCallId": c.Name, "title": c.Title, "name": c.Tool, "kind": kinds[c.Kind],
		}
		var content, locations []any
		for _, d := range c.Diffs {
			content = append(content, map[string]any{
				"type": "diff", "path": d.Path, "oldText": d.Old, "newText": d.New,
			})
		}
		for _, path := range c.Paths {
			locations = append(locations, map[string]any{"path": path})
		}
		call["content"], call["locations"] = content, locations
		line := string(protocol.MustEncode(call))
		if c.Input != "" {
			line = strings.TrimSuffix(line, "}") + `,"rawInput":` + c.Input + "}"
		}
		r.run("ask " + line)
		got := r.asked[len(r.asked)-1]
		if got.Kind != want.Kind || got.Name != want.Name || got.Command != want.Command ||
			!sameInput(got.Input, want.Input) || !reflect.DeepEqual(got.Content, want.Content) {
			t.Errorf("%s: asked\n%+v\nwant\n%+v", c.Name, got, want)
		}
		if c.Rule && got.CWD != want.CWD {
			t.Errorf("%s: asked in %s, want %s", c.Name, got.CWD, want.CWD)
		}
	}
}

// sameInput reports whether arguments arrived as they were sent.
func sameInput(got, sent json.RawMessage) bool {
	if len(sent) == 0 {
		return len(got) == 0
	}
	compact, ok := protocol.Compact(sent)
	return ok && bytes.Equal(got, compact)
}

func TestTheTitleIsTheCommandOfAnAgentThatTellsItNowhereElse(t *testing.T) {
	turn := &turn{agent: catalog.Reported("gemini-cli"), cwd: "/w"}
	a := turn.newApproval(&permissionParams{Tool: toolCall{Title: "make", ToolKind: protocol.ToolExecute}})
	if a.Command != "make" || a.Subject() == "" {
		t.Errorf("without arguments: %+v", a)
	}
	a = turn.newApproval(&permissionParams{Tool: toolCall{
		Title: "make", ToolKind: protocol.ToolExecute, Input: json.RawMessage(`{"command":"rm x"}`),
	}})
	if a.Command != "rm x" {
		t.Errorf("with arguments: %+v", a)
	}
}

func TestARequestThatCanBeReadInTwoWaysIsNotShown(t *testing.T) {
	const command = `"rawInput":{"command":"ls"}`
	for name, call := range map[string]string{
		"arguments twice":           command + `,"rawInput":{"command":"rm x"}`,
		"arguments in another case": command + `,"RawInput":{"command":"rm x"}`,
		"only in another case":      `"rawinput":{"command":"rm x"}`,
		"a title twice":             `"title":"ls","title":"rm x"`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestAgent(t, "plain", connected)
			r.run(`ask {"toolCallId":"c","kind":"execute",` + call + `}`)
			if r.wantText("cancelled"); len(r.asked) > 0 {
				t.Errorf("asked for %+v", r.asked)
			}
		})
	}
}

func TestALastingOptionIsOfferedWhereThereIsNoOther(t *testing.T) {
	options := func(kinds string) (got []string) {
		r := newTestAgent(t, "plain", connected)
		r.run("askwith " + kinds + " " + ask)
		for _, o := range r.asked[0].Options {
			got = append(got, o.ID+" "+string(o.Kind))
		}
		return got
	}
	for kinds, want := range map[string][]string{
		"allow_once,allow_always,reject_once,reject_always,brand_new": {
			"opt-2-reject_once deny", "opt-0-allow_once allow_once",
		},
		"allow_always,reject_always": {"opt-1-reject_always deny", "opt-0-allow_always allow_once"},
	} {
		if got := options(kinds); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: offered %q, want %q", kinds, got, want)
		}
	}
}

func TestMergedArgumentsAreThoseOfTheRequestAndTheRestOfTheCall(t *testing.T) {
	for _, test := range []struct{ call, request, want string }{
		{`{"a":1}`, ``, `{"a":1}`},
		{`{}`, `{"b":2}`, `{"b":2}`},
		{`{"a":1,"b":1}`, `{"b":2}`, `{"a":1,"b":2}`},
		{`{"a":1,"A":1}`, `{"b":2}`, `[{"a":1,"A":1},{"b":2}]`},
		{`"text"`, `{"b":2}`, `["text",{"b":2}]`},
		{`{"a":1}`, `[2]`, `[{"a":1},[2]]`},
	} {
		if got := mergeInput(json.RawMessage(test.call), json.RawMessage(test.request)); string(got) != test.want {
			t.Errorf("%s and %s: %s, want %s", test.call, test.request, got, test.want)
		}
	}
}

func TestAnAgentCanBeReachedByAConnection(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing") // an agent elsewhere has other directories
	played := make(chan error, 1)
	a, r := dialedAgent(t, agent.Spec{Session: "ses", CWD: dir}, func(lines *lineScript) {
		lines.answer("initialize", `{"protocolVersion":1}`)
		lines.answer("session/new", `{"sessionId":"s"}`)
		lines.answer("session/prompt", `{"stopReason":"end_turn"}`)
		lines.hangUp("session/prompt")
		played <- lines.err
	})
	if end, err := a.Run(t.Context(), turnOf("one"), r); err != nil || end.Reason != protocol.ReasonCompleted {
		t.Errorf("ended %+v, %v", end, err)
	}
	if _, err := a.Run(t.Context(), turnOf("two"), r); protocol.CodeOf(err) != protocol.CodeAgentFailed {
		t.Errorf("the connection was closed: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := <-played; err != nil {
		t.Error(err)
	}
}

func TestTheClientOffersTheOutputOfTerminalsAndNeitherFilesNorTerminals(t *testing.T) {
	for host, offer := range map[agent.WorkHost]string{nil: "", (&shownSessions{}).new(""): `"subagents":{},`} {
		c := &client{subs: subAgents{host: host}}
		want := `{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false,"elicitation":{"form":{},"url":{}},` +
			offer + `"session":{"compaction":{},"configOptions":{"boolean":{}},"notices":{}},` +
			`"plan":{},"auth":{"terminal":true},"_meta":{"terminal_output":true}}`
		if got := string(protocol.MustEncode(c.offeredCapabilities())); got != want {
			t.Errorf("offers %s, want %s", got, want)
		}
	}
}
