package acp

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"

	"agentctl/protocol"
)

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
				Kind: protocol.ApproveTool, Title: "F", Name: "F",
				Content: []protocol.Content{{Type: "other", Data: json.RawMessage(`{"type":"hologram","z":1}`)}},
			},
		},
		"arguments beside those of the request": {
			`"kind":"execute","rawInput":{"command":"make","cwd":"/w","env":{"A":"1"}}`,
			`"title":"make","rawInput":{"command":"make"}`,
			protocol.Approval{
				Kind: protocol.ApproveCommand, Title: "make", Command: `make {"env":{"A":"1"}}`, CWD: "/w",
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
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestAgent(t, "plain")
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
			r := newTestAgent(t, "plain")
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

func TestACommandIsShownWithEveryArgumentThatCanChangeIt(t *testing.T) {
	for _, test := range []struct{ input, want string }{
		{`{"command":"make","cwd":"sub","description":"d","timeout":5,"is_background":true}`, "make"},
		{`{"command":"a && b","commands":["a","b"]}`, "a && b"},
		{
			`{"command":"a","commands":["b"]}`,
			`a {"commands":["b"]}`,
		},
		{
			`{"command":"git","args":["push","--force"]}`,
			`git {"args":["push","--force"]}`,
		},
		{
			`{"command":"make","z":1,"sandbox_permissions":"require_escalated"}`,
			`make {"sandbox_permissions":"require_escalated","z":1}`,
		},
		{`{"command":"make","env":{},"args":null}`, "make"},
		{
			`{"command":"make","cwd":["/a"]}`,
			`make {"cwd":["/a"]}`,
		},
		{
			`{"command":"ls","Command":"rm -rf /"}`,
			`ls {"command":"ls","Command":"rm -rf /"}`,
		},
		{
			`{"command":"ls","command":"rm -rf /"}`,
			`rm -rf / {"command":"ls","command":"rm -rf /"}`,
		},
		{
			`{"Command":"rm -rf /"}`,
			`title {"Command":"rm -rf /"}`,
		},
	} {
		r := newTestAgent(t, "plain")
		r.run(`ask {"toolCallId":"c","title":"title","kind":"execute","rawInput":` + test.input + `}`)
		if got := r.asked[0].Command; got != test.want {
			t.Errorf("%s is shown as %s, want %s", test.input, got, test.want)
		}
	}
}

func TestALastingOptionIsOfferedWhereThereIsNoOther(t *testing.T) {
	options := func(kinds string) (got []string) {
		r := newTestAgent(t, "plain")
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
		{`{"a":1,"A":1}`, `{"b":2}`, `{"b":2}`},
		{`"text"`, `{"b":2}`, `{"b":2}`},
		{`{"a":1}`, `[2]`, `[2]`},
	} {
		if got := mergeInput(json.RawMessage(test.call), json.RawMessage(test.request)); string(got) != test.want {
			t.Errorf("%s and %s: %s, want %s", test.call, test.request, got, test.want)
		}
	}
}

func TestAnAgentCanBeReachedByAConnection(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing") // an agent elsewhere has directories of its own
	played := make(chan error, 1)
	a, r := dialedAgent(t, dir, func(lines *lineScript) {
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
	const want = `{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false,` +
		`"session":{"configOptions":{"boolean":{}}},"_meta":{"terminal_output":true}}`
	if got := string(protocol.MustEncode(offeredCapabilities())); got != want {
		t.Errorf("offers %s, want %s", got, want)
	}
}
