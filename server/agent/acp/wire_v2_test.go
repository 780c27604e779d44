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

func TestRequestsHaveTheFormOfVersionTwo(t *testing.T) {
	servers := []any{
		mcpCommand{"files", "/bin/files", []string{"-r"}, []mcpValue{}}, mcpURL{
			"http", "web", "https://x", []mcpValue{},
		},
	}
	for name, test := range map[string]struct {
		method       string
		params       any
		want, fields string
	}{
		"initialize": {
			"initialize",
			initializeParams{Version: 2, Client: implementation{Name: "a", Version: "1"}},
			"initialize", `{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"auth":{}}}`,
		},
		"a session": {
			"session/new",
			sessionParams{CWD: "/w", Servers: servers},
			"session/new",
			`{"cwd":"/w","mcpServers":[{"type":"stdio","name":"files","command":"/bin/files","args":["-r"],"env":[]},` +
				`{"type":"http","name":"web","url":"https://x","headers":[]}]}`,
		},
		"a load": {
			"session/load",
			sessionParams{Session: "s", CWD: "/w", Servers: []any{}},
			"session/resume",
			`{"sessionId":"s","cwd":"/w","mcpServers":[],"replayFrom":{"type":"start"}}`,
		},
		"a resume": {
			"session/resume",
			sessionParams{Session: "s", CWD: "/w", Servers: []any{}},
			"session/resume",
			`{"sessionId":"s","cwd":"/w","mcpServers":[]}`,
		},
		"a choice": {
			"session/set_config_option",
			setConfigParams{Session: "s", ID: "mode", Value: "plan"},
			"session/set_config_option",
			`{"sessionId":"s","configId":"mode","type":"id","value":"plan"}`,
		},
		"a switch": {
			"session/set_config_option",
			setConfigParams{"s", "fast", "boolean", true},
			"session/set_config_option",
			`{"sessionId":"s","configId":"fast","type":"boolean","value":true}`,
		},
		"a login": {"authenticate", authenticateParams{"key"}, "auth/login", `{"methodId":"key"}`},
	} {
		method, params := newWireV2().request(test.method, test.params)
		if got := string(protocol.MustEncode(params)); method != test.want || got != test.fields {
			t.Errorf("%s: %s %s", name, method, got)
		}
	}
}

// playUpdates returns the events of updates of version 2 in a turn.
func playUpdates(t *testing.T, updates ...string) *recorder {
	t.Helper()
	c, _, r := knownTurn(t, catalog.Agent{})
	c.wire = newWireV2()
	notify(c, updates...)
	return r
}

func TestOutputOfTerminalsIsThatOfTheirCalls(t *testing.T) {
	const call = `{"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"execute","content":[{"type":"terminal","terminalId":"t"}]}`
	const end = `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`
	chunk := func(data string) string {
		return `{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"` + data + `"}`
	}
	whole := func(data string) string {
		return `{"sessionUpdate":"terminal_update","terminalId":"t","output":{"data":"` + data + `"},"exitStatus":{"exitCode":3}}`
	}
	for name, test := range map[string]struct {
		updates []string
		want    string
	}{
		"in parts":                  {[]string{call, chunk("b25lCg=="), chunk("dHdv"), end}, "one\ntwo"},
		"before its call":           {[]string{chunk("b25l"), call, end}, "one"},
		"all of it":                 {[]string{call, whole("b25lCnR3bw=="), end}, "one\ntwo"},
		"all of it again":           {[]string{call, whole("b25l"), whole("b25lCnR3bw=="), end}, "one\ntwo"},
		"other output in its place": {[]string{call, whole("b25l"), whole("dHdv"), end}, "two"},
		"after a part":              {[]string{call, chunk("b25l"), whole("dHdv"), end}, "two"},
		"a split character":         {[]string{call, chunk("4oI="), chunk("rA=="), end}, "€"},
		"not base64":                {[]string{call, chunk("b25l*"), end}, "one"},
		"beside other content": {[]string{
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"content","content":{"type":"text","text":"see"}},{"type":"terminal","terminalId":"t"}]}`,
			whole("b25l"), whole("dHdv"), end,
		}, "see\ntwo"},
	} {
		r := playUpdates(t, test.updates...)
		if got := toolOutputs(r.events)["t/c"]; got != test.want {
			t.Errorf("%s: %q, want %q, in\n%s", name, got, test.want, r.eventLines())
		}
		if end := toolEnd(t, r); strings.Contains(strings.Join(test.updates, ""), "exitCode") && *end.ExitCode != 3 {
			t.Errorf("%s: ended %+v", name, end)
		}
	}
}

func TestMessagesAreJoinedById(t *testing.T) {
	chunk := func(id, text string) string {
		return `{"sessionUpdate":"agent_message_chunk","messageId":"` + id + `","content":{"type":"text","text":"` + text + `"}}`
	}
	message := func(id, text string) string {
		return `{"sessionUpdate":"agent_message","messageId":"` + id + `","content":[{"type":"text","text":"` + text + `"}]}`
	}
	for name, test := range map[string]struct {
		updates []string
		want    string
		parts   int
	}{
		"chunks":               {[]string{chunk("m", "a"), chunk("m", "b")}, "ab", 1},
		"a message":            {[]string{message("m", "ab")}, "ab", 1},
		"a message to its end": {[]string{chunk("m", "a"), message("m", "ab")}, "ab", 1},
		"a message again":      {[]string{chunk("m", "ab"), message("m", "ab")}, "ab", 1},
		"another text":         {[]string{chunk("m", "ab"), message("m", "c")}, "abc", 2},
		"another message":      {[]string{chunk("m", "a"), message("n", "ab")}, "aab", 2},
		"an empty message": {[]string{
			`{"sessionUpdate":"agent_message","messageId":"m","content":[]}`, chunk("m", "a"),
		}, "a", 1},
	} {
		r := playUpdates(t, test.updates...)
		if got := textOf(r.events); got != test.want || len(r.data(protocol.TextStart)) != test.parts {
			t.Errorf("%s: %q in\n%s", name, got, r.eventLines())
		}
	}
}

func TestChangesOfFilesAreShown(t *testing.T) {
	const add = `{"operation":"add","path":"/w/a"}`
	const modify = `{"operation":"modify","path":"/w/a"}`
	patch := func(lines ...string) string {
		return `,"patch":` + string(protocol.MustEncode(map[string]string{
			"format": "git_patch", "text": strings.Join(lines, "\n") + "\n",
		}))
	}
	edit := patch("diff --git /w/a /w/a", "--- /w/a", "+++ /w/a", "@@ -1 +1 @@", "-one", "+two")
	for name, test := range map[string]struct {
		changes, patch string
		kind           string // of the request
		diffs, rule    bool
	}{
		"an edit": {modify, edit, protocol.ApprovePatch, true, true},
		"a new file": {
			add, patch("new file mode 100644", "--- /dev/null", "+++ /w/a", "@@ -0,0 +1 @@", "+one"),
			protocol.ApprovePatch, true, true,
		},
		"two hunks": {
			modify, patch("--- /w/a", "+++ /w/a", "@@ -1 +1 @@", "-one", "+two", "@@ -9 +9 @@", "-x", "+y"),
			protocol.ApprovePatch, true, true,
		},
		"no patch": {modify, "", protocol.ApprovePatch, false, false},
		"a program": {
			add, patch("new file mode 100755", "--- /dev/null", "+++ /w/a", "@@ -0,0 +1 @@", "+one"),
			protocol.ApprovePatch, false, false,
		},
		"other file": {
			modify, patch("--- /etc/x", "+++ /etc/x", "@@ -1 +1 @@", "-one", "+two"), protocol.ApprovePatch, false,
			false,
		},
		"a file more": {modify, patch("diff --git /w/a /w/a", "@@ -1 +1 @@", "-one", "+two", "diff --git /etc/x /etc/x", "--- /etc/x", "+++ /etc/x", "@@ -1 +1 @@", "-one", "+two"), protocol.ApprovePatch, false, false},
		"a removal": {
			`{"operation":"delete","path":"/w/a"}`,
			patch("deleted file mode 100644", "--- /w/a", "+++ /dev/null", "@@ -1 +0,0 @@", "-one"),
			protocol.ApproveTool, true, false,
		},
		"a move": {
			`{"operation":"move","oldPath":"/w/a","path":"/etc/x"}`, "", protocol.ApproveTool, false, false,
		},
		"unknown": {`{"operation":"link","path":"/w/a"}`, "", protocol.ApproveTool, false, false},
	} {
		w := newWireV2()
		p, err := w.permission([]byte(`{"sessionId":"s","title":"Edit","subject":{"type":"tool_call","toolCall":{"toolCallId":"c",` +
			`"name":"Edit","kind":"edit","content":[{"type":"diff","changes":[` + test.changes + `]` + test.patch + `}]}},"options":[]}`))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, tn, _ := knownTurn(t, catalog.Agent{})
		tn.cwd = "/w"
		a := tn.newApproval(&p)
		shown := string(protocol.MustEncode(a.Content)) + strings.Join(a.Paths, " ")
		diffs := !strings.Contains(shown, `"changes"`)
		if a.Kind != test.kind || diffs != test.diffs || (a.Subject() != "") != test.rule {
			t.Errorf("%s: %s", name, protocol.MustEncode(a))
		}
		for _, path := range []string{"/w/a", "/etc/x"} {
			if strings.Contains(test.changes+test.patch, path) && !strings.Contains(shown, path) {
				t.Errorf("%s: %s is not shown: %s", name, path, protocol.MustEncode(a))
			}
		}
	}
}

func TestSubjectsOfRequestsAreShown(t *testing.T) {
	for name, test := range map[string]struct{ fields, command, input, why string }{
		"a command": {
			`"description":"to see","subject":{"type":"command","command":"make","cwd":"/w"}`, "make",
			`{"command":"make","cwd":"/w"}`, "to see",
		},
		"an unknown subject": {`"subject":{"type":"launch","rocket":1}`, "", `{"type":"launch","rocket":1}`, ""},
		"no subject":         {`"description":"why"`, "", "", "why"},
	} {
		p, err := newWireV2().permission([]byte(`{"sessionId":"s","title":"Run?",` + test.fields + `,"options":[]}`))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, tn, _ := knownTurn(t, catalog.Agent{})
		tn.cwd = "/w"
		a := tn.newApproval(&p)
		if a.Title != "Run?" || a.Command != test.command || string(a.Input) != test.input || a.Why != test.why {
			t.Errorf("%s: %s", name, protocol.MustEncode(a))
		}
	}
	for name, request := range map[string]string{
		"a subject twice": `"subject":{"type":"command","command":"ls","cwd":"/"},"subject":{"type":"command","command":"rm x","cwd":"/"}`,
		"a command twice": `"subject":{"type":"command","command":"ls","command":"rm x","cwd":"/"}`,
		"a title twice":   `"subject":{"type":"tool_call","toolCall":{"toolCallId":"c","title":"ls","title":"rm x"}}`,
	} {
		if _, err := newWireV2().permission([]byte(`{"sessionId":"s","title":"Run?",` + request + `,"options":[]}`)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// An idle state ends the turn of a prompt only after the agent has inserted its message: until then
// it ends work that the agent began itself.
func TestAnIdleStateBeforeTheMessageEndsOtherWork(t *testing.T) {
	frame := func(dir, line string) recordedFrame {
		f := recordedFrame{Dir: dir, Line: line}
		if err := json.Unmarshal([]byte(line), &f.message); err != nil {
			t.Fatal(err)
		}
		return f
	}
	update := func(fields string) recordedFrame {
		return frame(
			"a2c", `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{`+fields+`}}}`,
		)
	}
	p := &player{t: t, frames: []recordedFrame{
		frame("c2a", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`),
		frame("a2c", `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2,"info":{"name":"x","version":"1"}}}`),
		frame("c2a", `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`),
		frame("a2c", `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`),
		frame("c2a", `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}`),
		update(`"sessionUpdate":"state_update","state":"idle","stopReason":"refusal"`),
		frame("a2c", `{"jsonrpc":"2.0","id":3,"result":{"messageId":"m"}}`),
		update(`"sessionUpdate":"agent_message","messageId":"n","content":[{"type":"text","text":"hello"}]`),
		update(`"sessionUpdate":"state_update","state":"idle","stopReason":"max_tokens"`),
	}}
	r := &recorder{decide: deny, changed: make(chan struct{}, 1)}
	a, err := New(Config{Name: "Two", Dial: p.dial, Version: 2}, agent.Spec{Session: "s", CWD: "/w"}, r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	end, err := a.Run(context.Background(), agent.Turn{ID: "t", Message: protocol.Message{Text: "hi"}}, r)
	if err != nil || end.Reason != protocol.ReasonMaxTokens || textOf(r.events) != "hello" {
		t.Errorf("ended %+v, %v, said %q", end, err, textOf(r.events))
	}
}
