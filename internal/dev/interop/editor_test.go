//go:build interop

package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/internal/dev/fakemodel"
	"agentctl/internal/dev/interop/interoptest"
	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// An editor is a process with a client of the reference SDK.
type editor struct {
	t       *testing.T
	version int
	in      io.Writer
	lines   chan editorLine
	seen    []editorLine // that no wait has taken
	frames  []frame      // of both directions
	calls   int
}

// An editorLine is what the editor reports.
type editorLine struct {
	Call      int             `json:"call"`
	Result    json.RawMessage `json:"result"`
	Error     *editorError    `json:"error"`
	Update    *editorUpdate   `json:"update"`
	Ask       int             `json:"ask"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	Withdrawn int             `json:"withdrawn"`
	Frame     json.RawMessage `json:"frame"`
	Sent      json.RawMessage `json:"sent"`
	Closed    bool            `json:"closed"`
	Failed    string          `json:"failed"`
}

type editorError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

type editorUpdate struct {
	Session string          `json:"sessionId"`
	Update  json.RawMessage `json:"update"`
	Meta    json.RawMessage `json:"_meta"`
}

// startEditor starts an editor and sends initialize.
func startEditor(t *testing.T, version int, args ...string) *editor {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", append([]string{"editor.mjs", fmt.Sprint(version)}, args...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	interoptest.Must(t, err)
	out, err := cmd.StdoutPipe()
	interoptest.Must(t, err)
	interoptest.Must(t, cmd.Start())
	e := &editor{t: t, version: version, in: in, lines: make(chan editorLine, 100)}
	read := make(chan struct{})
	t.Cleanup(func() {
		_ = in.Close()
		for range e.lines {
		}
		<-read
		_ = cmd.Wait() // killed by the end of the test, or ended
		judgeFrames(t, e.frames, version, toClient)
	})
	go func() {
		defer close(read)
		defer close(e.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			var l editorLine
			if json.Unmarshal(line, &l) == nil {
				if len(l.Frame) > 0 {
					e.frames = append(e.frames, frame{toClient, string(l.Frame)})
					continue
				}
				if len(l.Sent) > 0 {
					e.frames = append(e.frames, frame{toAgent, string(l.Sent)})
					continue
				}
				e.lines <- l
			}
		}
	}()
	capabilities := obj{"elicitation": obj{"form": obj{}, "url": obj{}}}
	info := obj{"name": "editor", "version": "1"}
	params := obj{"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": info}
	if version == 2 {
		params = obj{"protocolVersion": 2, "capabilities": capabilities, "info": info}
	}
	e.do("initialize", params, nil)
	return e
}

func (e *editor) write(line obj) {
	e.t.Helper()
	b, err := json.Marshal(line)
	interoptest.Must(e.t, err)
	_, err = e.in.Write(append(b, '\n'))
	interoptest.Must(e.t, err)
}

// next returns the next line that matches, also of the lines before.
func (e *editor) next(what string, match func(*editorLine) bool) editorLine {
	e.t.Helper()
	for i := range e.seen {
		if l := e.seen[i]; match(&l) {
			e.seen = append(e.seen[:i:i], e.seen[i+1:]...)
			return l
		}
	}
	late := time.After(interoptest.Timeout)
	for {
		select {
		case l, ok := <-e.lines:
			switch {
			case !ok:
				e.t.Fatalf("the editor ended before %s", what)
			case match(&l):
				return l
			case l.Failed != "":
				e.t.Errorf("the editor failed: %s", l.Failed)
			}
			e.seen = append(e.seen, l)
		case <-late:
			e.t.Fatalf("no %s; seen %s", what, encoded(e.seen))
		}
	}
}

func encoded(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// begin sends a request and returns its number.
func (e *editor) begin(method string, params any) int {
	e.t.Helper()
	e.calls++
	e.write(obj{"call": e.calls, "method": method, "params": params})
	return e.calls
}

// end returns the answer to a request.
func (e *editor) end(call int) editorLine {
	e.t.Helper()
	return e.next("answer", func(l *editorLine) bool { return l.Call == call })
}

// do sends a request that succeeds.
func (e *editor) do(method string, params, result any) {
	e.t.Helper()
	l := e.end(e.begin(method, params))
	if l.Error != nil {
		e.t.Fatalf("%s: %+v %s", method, l.Error, l.Error.Data)
	}
	if result != nil {
		interoptest.Must(e.t, json.Unmarshal(l.Result, result))
	}
}

// open creates a session.
func (e *editor) open(dir string) string {
	e.t.Helper()
	var r struct {
		Session string `json:"sessionId"`
	}
	e.do("session/new", obj{"cwd": dir, "mcpServers": []any{}}, &r)
	return r.Session
}

// prompt sends a message and returns the number of the request.
func (e *editor) prompt(session, text string) int {
	e.t.Helper()
	return e.begin("session/prompt", obj{"sessionId": session, "prompt": []obj{{"type": "text", "text": text}}})
}

// waitUpdate waits for an update whose JSON contains all words.
func (e *editor) waitUpdate(words ...string) editorLine {
	e.t.Helper()
	return e.next("update with "+strings.Join(words, ", "), func(l *editorLine) bool {
		if l.Update == nil {
			return false
		}
		for _, word := range words {
			if !strings.Contains(string(l.Update.Update)+string(l.Update.Meta), word) {
				return false
			}
		}
		return true
	})
}

// waitAsk waits for a request of agentctl.
func (e *editor) waitAsk() editorLine {
	e.t.Helper()
	return e.next("request", func(l *editorLine) bool { return l.Ask != 0 })
}

// wantStop checks the answer to a prompt.
func (e *editor) wantStop(call int, reason string) {
	e.t.Helper()
	l := e.end(call)
	if !strings.Contains(string(l.Result), reason) {
		e.t.Errorf("the prompt ended with %s %+v, want %s", l.Result, l.Error, reason)
	}
}

// editorScript is the script of the sessions of editors.
const editorScript = `{"agent":"editors","version":"1"}

{"on":"ask"}
{"ask":"command","title":"Look","command":"git status","input":{"command":"git status"},"then":[{"say":"it ran"}],"else":[{"say":"it did not run"}]}

{"on":"question"}
{"ask":"question","title":"Which?","questions":[{"id":"q","text":"Which?","choices":[{"id":"a","label":"A"},{"id":"b","label":"B"}]}],"then":[{"say":"thanks"}],"else":[{"say":"no answer"}]}

{"on":"work"}
{"tool":"Bash","kind":"execute","title":"ls","input":{"command":"ls"},"output":"a.go\n","exit":0}
{"tool":"Edit","kind":"edit","title":"a.go","content":[{"type":"diff","path":"/w/a.go","old":"one\n","new":"two\n"}]}
{"think":"a thought"}
{"context":{"tokens":10,"max_tokens":100}}
{"notice":"be careful","level":"warning"}
{"say":"all done"}

{"on":"slow"}
{"say":"begun"}
{"sleep":"1h"}

{"on":"burst"}
{"burst":3000,"size":20}

{"on":"*"}
{"say":"hello back"}
`

// editorServer is a server with the script, and the ways of an editor to it.
type editorServer struct {
	*interoptest.Server
	data string
	dir  string
}

func serveEditors(t *testing.T) *editorServer {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "editors.script")
	interoptest.Must(t, os.WriteFile(file, []byte(editorScript), 0o600))
	s := &editorServer{data: filepath.Join(dir, "data"), dir: dir}
	s.Server = interoptest.Serve(t, s.data, file, "--listen", "127.0.0.1:0")
	t.Cleanup(s.Stop)
	return s
}

// args are the arguments of an editor over a transport.
func (s *editorServer) args(t *testing.T, transport string) []string {
	t.Helper()
	if transport == "stdio" {
		return []string{"stdio", testbinary.Program, "acp", "--data", s.data}
	}
	token, err := os.ReadFile(s.TokenFile)
	interoptest.Must(t, err)
	return []string{"ws", strings.Replace(s.URL, "/v1/ws", "", 1) + "/acp", strings.TrimSpace(string(token))}
}

func forEachEditor(t *testing.T, test func(t *testing.T, s *editorServer, start func() *editor)) {
	s := serveEditors(t)
	for _, transport := range []string{"stdio", "ws"} {
		for _, version := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/v%d", transport, version), func(t *testing.T) {
				test(t, s, func() *editor { return startEditor(t, version, s.args(t, transport)...) })
			})
		}
	}
}

func TestEditorsWorkInSessions(t *testing.T) {
	forEachEditor(t, func(t *testing.T, s *editorServer, start func() *editor) {
		e := start()
		id := e.open(s.dir)
		call := e.prompt(id, "work")
		e.waitUpdate("a.go", "tool_call")
		e.waitUpdate("diff", "/w/a.go")
		e.waitUpdate("agent_thought_chunk", `thought"`)
		e.waitUpdate("usage_update")
		e.waitUpdate("be careful")
		e.waitUpdate("agent_message_chunk", "done")
		e.waitEnd(call, "end_turn")

		call = e.prompt(id, "ask")
		ask := e.waitAsk()
		if !strings.Contains(string(ask.Params), "git status") {
			t.Errorf("asked %s", ask.Params)
		}
		e.write(obj{"answer": ask.Ask, "result": obj{"outcome": obj{"outcome": "selected", "optionId": "0"}}})
		e.waitUpdate("allowed by")
		e.waitUpdate(`ran"`)
		e.waitEnd(call, "end_turn")

		call = e.prompt(id, "question")
		ask = e.waitAsk()
		interoptest.Contains(t, ask.Method+string(ask.Params), "elicitation/create", `"mode":"form"`, "Which?")
		e.write(obj{"answer": ask.Ask, "result": obj{"action": "accept", "content": obj{"q": "b"}}})
		e.waitUpdate("thanks")
		e.waitEnd(call, "end_turn")

		call = e.prompt(id, "slow")
		e.waitUpdate("begun")
		e.write(obj{"notify": "session/cancel", "params": obj{"sessionId": id}})
		e.waitEnd(call, "cancelled")
	})
}

// Two editors on one session, the second from the middle of a turn.
func TestEditorsShareASession(t *testing.T) {
	forEachEditor(t, func(t *testing.T, s *editorServer, start func() *editor) {
		ann, bob := start(), start()
		id := ann.open(s.dir)
		slow := ann.prompt(id, "slow")
		ann.waitUpdate("begun")
		params := obj{"sessionId": id, "cwd": s.dir, "mcpServers": []any{}}
		if bob.version == 1 {
			bob.do("session/load", params, nil)
		} else {
			params["replayFrom"] = obj{"type": "start"}
			bob.do("session/resume", params, nil)
		}
		bob.waitUpdate("user_message_chunk", "slow")
		bob.waitUpdate("agent_message_chunk", "begun")
		hi := bob.prompt(id, "hi")
		ann.write(obj{"notify": "session/cancel", "params": obj{"sessionId": id}})
		ann.waitEnd(slow, "cancelled")
		bob.waitEnd(hi, "end_turn")
		ann.waitUpdate("user_message_chunk", "hi")
		ann.waitUpdate(`back"`)

		call := ann.prompt(id, "ask")
		toAnn, toBob := ann.waitAsk(), bob.waitAsk()
		bob.write(obj{"answer": toBob.Ask, "result": obj{"outcome": obj{"outcome": "selected", "optionId": "0"}}})
		ann.next("withdrawal", func(l *editorLine) bool { return l.Withdrawn == toAnn.Ask })
		ann.waitUpdate("allowed by")
		ann.waitEnd(call, "end_turn")
	})
}

// waitEnd waits for the end of the turn of a prompt: in version 1 its answer, in version 2 the state.
func (e *editor) waitEnd(call int, reason string) {
	e.t.Helper()
	if e.version == 1 {
		e.wantStop(call, reason)
		return
	}
	e.wantStop(call, "messageId")
	e.waitUpdate("state_update", reason)
}

// A killed server is a pause for an editor, whatever it does: the server is started again, and the turn
// continues.
func TestAKilledServerIsAPauseForAnEditor(t *testing.T) {
	type row struct {
		version int
		phase   string
	}
	for _, row := range []row{
		{1, "idle"}, {1, "sent"}, {1, "text"}, {1, "asked"}, {1, "decided"}, {2, "sent"}, {2, "asked"},
	} {
		phase := row.phase
		t.Run(fmt.Sprintf("v%d/%s", row.version, phase), func(t *testing.T) {
			dir := shortDir(t) // processes may still end
			t.Setenv("XDG_RUNTIME_DIR", dir)
			file, signal := filepath.Join(dir, "slow.script"), filepath.Join(dir, "signal")
			script := strings.Join([]string{
				`{"resumes":true}`, `{"on":"*"}`, `{"say":"begun"}`, `{"wait":"file:` + signal + `"}`,
				`{"ask":"command","title":"Look","command":"ls","then":[{"say":"it ran"}]}`, `{"say":"finished"}`,
			}, "\n")
			interoptest.Must(t, os.WriteFile(file, []byte(script), 0o600))
			data := filepath.Join(dir, "data")
			t.Cleanup(func() { _ = exec.Command(testbinary.Program, "stop", "--data", data).Run() })
			e := startEditor(t, row.version, "stdio", testbinary.Program, "acp", "--data", data, "--agent", "script:"+file)
			kill := func(now string) {
				t.Helper()
				if now == phase {
					killServer(t, data)
				}
			}
			id := e.open(dir)
			kill("idle")
			call := e.prompt(id, "go")
			kill("sent")
			var text strings.Builder
			say := func(want string) {
				t.Helper()
				for !strings.HasSuffix(text.String(), want) {
					l := e.waitUpdate("agent_message_chunk")
					text.WriteString(textOfUpdate(t, &l))
				}
			}
			say("begun")
			kill("text")
			interoptest.Must(t, os.WriteFile(signal, nil, 0o600))
			ask := e.waitAsk()
			kill("asked")
			e.write(obj{"answer": ask.Ask, "result": obj{"outcome": obj{"outcome": "selected", "optionId": "0"}}})
			kill("decided")
			say("finished")
			e.waitEnd(call, "end_turn")
			if text.String() != "begunit ranfinished" {
				t.Errorf("the text is %q", text.String())
			}
		})
	}
}

// killServer kills the server of a data directory.
func killServer(t *testing.T, data string) {
	t.Helper()
	out, _ := exec.Command(testbinary.Program, "doctor", "--data", data, "-o", "json").Output() // it warns
	pid := regexp.MustCompile(`a server runs with pid (\d+)`).FindSubmatch(out)
	if pid == nil {
		t.Fatalf("no pid in %s", out)
	}
	n, err := strconv.Atoi(string(pid[1]))
	interoptest.Must(t, err)
	interoptest.Must(t, syscall.Kill(n, syscall.SIGKILL))
}

// textOfUpdate returns the text of a chunk.
func textOfUpdate(t *testing.T, l *editorLine) string {
	t.Helper()
	var u struct{ Content struct{ Text string } }
	interoptest.Must(t, json.Unmarshal(l.Update.Update, &u))
	return u.Content.Text
}

// A text arrives once and in order through a link that is cut again and again.
func TestCutLinksAreAPauseForAnEditor(t *testing.T) {
	s := serveEditors(t)
	token, err := os.ReadFile(s.TokenFile)
	interoptest.Must(t, err)
	target, err := url.Parse(s.URL)
	interoptest.Must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	interoptest.Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	cuts := 0
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", target.Host)
			if err != nil {
				_ = in.Close()
				continue
			}
			cuts++
			limit := int64(cuts) * 12 << 10
			go func() { _, _ = io.Copy(out, in) }()
			go func() {
				_, _ = io.CopyN(in, out, limit)
				_, _ = in.Close(), out.Close()
			}()
		}
	}()
	e := startEditor(t, 1, "stdio", testbinary.Program, "acp", "--server", "ws://"+l.Addr().String()+"/v1/ws",
		"--token", strings.TrimSpace(string(token)))
	id := e.open(s.dir)
	e.wantStop(e.prompt(id, "burst"), "end_turn")
	var got strings.Builder
	for _, line := range e.seen {
		if line.Update != nil && strings.Contains(string(line.Update.Update), `"agent_message_chunk"`) {
			got.WriteString(textOfUpdate(t, &line))
		}
	}
	c := interoptest.Connect(t, s.URL, wsclient.Options{Token: strings.TrimSpace(string(token))})
	want := interoptest.Call[protocol.HistoryResult](t, c, protocol.DoHistory, id, protocol.HistoryData{Limit: 1})
	transcript := &protocol.Transcript{}
	for ev, err := range want.Decoded() {
		interoptest.Must(t, err)
		_, err = transcript.Apply(ev)
		interoptest.Must(t, err)
	}
	text := protocol.NewTurnOutcome("", transcript.Turns[0], &protocol.TurnEndedData{}).Text
	if got.String() != text || len(text) < 10_000 {
		t.Errorf("got %d bytes of %d", got.Len(), len(text))
	}
	if cuts < 3 {
		t.Errorf("the link was cut %d times", cuts)
	}
}

// A real agent in an editor: its modes, settings and commands, a request, the change of a mode.
func TestARealAgentInEditors(t *testing.T) {
	r := newTestSession(t, &claudeAgent, modelScript(&claudeAgent))
	for version := 1; version <= 2; version++ {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			e := startEditor(t, version, "stdio", testbinary.Program, "acp", "--data", r.data, "--session", r.session)
			l := e.end(e.begin("session/new", obj{"cwd": r.cwd, "mcpServers": []any{}}))
			if l.Error != nil {
				t.Fatalf("%+v", l.Error)
			}
			e.seen = nil // of the earlier editor
			var made struct {
				Session string `json:"sessionId"`
			}
			interoptest.Must(t, json.Unmarshal(l.Result, &made))
			call := e.prompt(made.Session, "run printf 1 >"+filepath.Join(r.cwd, fmt.Sprint("file", version)))
			ask := e.waitAsk()
			interoptest.Contains(t, string(ask.Params), "printf 1 ", `"title":"Run `)
			e.write(obj{"answer": ask.Ask, "result": obj{"outcome": obj{"outcome": "selected", "optionId": "0"}}})
			e.waitUpdate("tool_call", "completed")
			e.waitEnd(call, "end_turn")
			if b, err := os.ReadFile(filepath.Join(r.cwd, fmt.Sprint("file", version))); string(b) != "1" {
				t.Errorf("the command did not run: %q, %v", b, err)
			}
			for _, mode := range []string{"plan", r.agent.initial} {
				set := obj{"sessionId": made.Session, "configId": "mode", "value": mode}
				if version == 2 {
					set["type"] = "id"
				}
				var config json.RawMessage
				e.do("session/set_config_option", set, &config)
				interoptest.Contains(t, string(config), `"currentValue":"`+mode+`"`, `"category":"model"`)
			}
		})
	}
}

// A fork has the conversation of its session, and continues apart from it.
func TestEditorsForkSessions(t *testing.T) {
	model := fakemodel.New(func(_ context.Context, req fakemodel.Request, out *fakemodel.Reply) {
		out.Text(fmt.Sprintf("answer %d.", len(req.Messages)))
	})
	endpoint := httptest.NewServer(model)
	t.Cleanup(endpoint.Close)
	dir := t.TempDir()
	data, script, config := filepath.Join(dir, "data"), filepath.Join(dir, "hi.script"), filepath.Join(dir, "config.json")
	interoptest.Must(t, os.WriteFile(config, []byte(encoded(obj{
		"agents":    obj{"coder": obj{"model": "fake/m"}},
		"providers": obj{"fake": obj{"api": "chat", "base_url": endpoint.URL + "/v1", "key_command": []string{"echo", "k"}}},
	})), 0o600))
	interoptest.Must(t, os.WriteFile(script, []byte(editorScript), 0o600))
	server := interoptest.Serve(t, data, script, "--config", config)
	t.Cleanup(server.Stop)
	lastRequest := func() string { return string(model.Requests()[len(model.Requests())-1].Body) }
	for version := 1; version <= 2; version++ {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			e := startEditor(t, version, "stdio", testbinary.Program, "acp", "--data", data, "--agent", "coder")
			id := e.open(dir)
			e.waitEnd(e.prompt(id, "remember"), "end_turn")
			var fork struct {
				Session string `json:"sessionId"`
			}
			e.do("session/fork", obj{"sessionId": id, "cwd": dir, "mcpServers": []any{}}, &fork)
			if fork.Session == "" || fork.Session == id {
				t.Fatalf("forked %q of %q", fork.Session, id)
			}
			e.waitEnd(e.prompt(fork.Session, "and now"), "end_turn")
			if text := lastRequest(); !strings.Contains(text, "remember") || !strings.Contains(text, "and now") {
				t.Errorf("the model of the fork got %s", text)
			}
			e.waitEnd(e.prompt(id, "still here"), "end_turn")
			if text := lastRequest(); strings.Contains(text, "and now") {
				t.Errorf("the model of the session got %s", text)
			}
		})
	}
}

// An editor of an admin gives a real agent MCP servers. Their values are nowhere in the session.
func TestARealAgentGetsTheMCPServersOfAnEditor(t *testing.T) {
	r, self := newAskerSession(t)
	r.serve()
	for version := 1; version <= 2; version++ {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			e := startEditor(t, version, "stdio", testbinary.Program, "acp", "--data", r.data, "--agent", r.agent.name)
			server := obj{"name": "asker", "command": self, "args": []string{}, "env": []obj{
				{"name": mcpVariable, "value": "1"}, {"name": "MARK", "value": "marked-secret"},
			}}
			if version == 2 {
				server["type"] = "stdio"
			}
			var made struct {
				Session string `json:"sessionId"`
			}
			e.do("session/new", obj{"cwd": r.cwd, "mcpServers": []obj{server}}, &made)
			call := e.prompt(made.Session, "log in")
			ask := e.waitAsk()
			interoptest.Contains(t, string(ask.Params), askerTool)
			e.write(obj{"answer": ask.Ask, "result": obj{"outcome": obj{"outcome": "cancelled"}}})
			e.write(obj{"notify": "session/cancel", "params": obj{"sessionId": made.Session}})
			e.waitEnd(call, "cancelled")
			var all strings.Builder
			for _, args := range [][]string{{"status", made.Session}, {"events", made.Session}, {"ls", "-o", "json"}} {
				out, err := exec.Command(testbinary.Program, append(args, "--data", r.data)...).CombinedOutput()
				interoptest.Must(t, err)
				all.Write(out)
			}
			interoptest.Contains(t, all.String(), "mcp servers  asker", `"mcp_servers":["asker"]`, "MCP servers of this session: asker")
			if strings.Contains(all.String()+r.logText(), "marked-secret") {
				t.Errorf("a value of the server is shown: %s", all.String())
			}
		})
	}
}

// A revoked credential ends the prompts of an editor with its code, and its connection.
func TestARevokedCredentialEndsAnEditor(t *testing.T) {
	s := serveEditors(t)
	for _, transport := range []string{"stdio", "ws"} {
		for version := 1; version <= 2; version++ {
			t.Run(fmt.Sprintf("%s/v%d", transport, version), func(t *testing.T) {
				id, token := s.newToken(t)
				args := []string{"ws", strings.Replace(s.URL, "/v1/ws", "", 1) + "/acp", token}
				if transport == "stdio" {
					args = []string{
						"stdio", testbinary.Program, "acp", "--server", s.URL, "--data", t.TempDir(), "--token", token,
					}
				}
				e := startEditor(t, version, args...)
				call := e.prompt(e.open(s.dir), "slow")
				e.waitUpdate("begun")
				s.revoke(t, id)
				if version == 2 { // the prompt has its answer
					e.end(call)
					e.next("end", func(l *editorLine) bool { return l.Closed || strings.Contains(l.Failed, "closed") })
					return
				}
				l := e.end(call)
				if l.Error == nil || transport == "stdio" && !strings.Contains(string(l.Error.Data), `"unauthorized"`) {
					t.Errorf("the prompt ended with %s %+v", l.Result, l.Error)
				}
			})
		}
	}
}

// newToken makes a token and returns its id too.
func (s *editorServer) newToken(t *testing.T) (id, token string) {
	t.Helper()
	out, err := exec.Command(testbinary.Program, "token", "--subject", "ed", "--data", s.data, "-o", "json").Output()
	interoptest.Must(t, err)
	var made struct{ ID, Token string }
	interoptest.Must(t, json.Unmarshal(out, &made))
	return made.ID, made.Token
}

func (s *editorServer) revoke(t *testing.T, id string) {
	t.Helper()
	interoptest.Must(t, exec.Command(testbinary.Program, "token", "revoke", id, "--data", s.data).Run())
}

// An editor that ends agentctl acp with a signal leaves no session without a message.
func TestASignalEndsUnusedSessions(t *testing.T) {
	s := serveEditors(t)
	cmd := exec.CommandContext(t.Context(), testbinary.Program, "acp", "--data", s.data)
	in, err := cmd.StdinPipe()
	interoptest.Must(t, err)
	out, err := cmd.StdoutPipe()
	interoptest.Must(t, err)
	interoptest.Must(t, cmd.Start())
	lines := bufio.NewReader(out)
	request := func(id int, method, params string) string {
		t.Helper()
		_, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		interoptest.Must(t, err)
		for {
			line, err := lines.ReadString('\n')
			interoptest.Must(t, err)
			if strings.Contains(line, fmt.Sprintf(`"id":%d`, id)) {
				return line
			}
		}
	}
	request(1, "initialize", `{"protocolVersion":1}`)
	used := regexp.MustCompile(`s_[a-z0-9]+`).FindString(request(2, "session/new", `{"cwd":"/","mcpServers":[]}`))
	request(3, "session/new", `{"cwd":"/","mcpServers":[]}`)
	_, err = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":%q,`+
		`"prompt":[{"type":"text","text":"burst"}]}}`+"\n", used)
	interoptest.Must(t, err)
	for line := ""; !strings.Contains(line, "agent_message_chunk"); { // the turn has begun
		line, err = lines.ReadString('\n')
		interoptest.Must(t, err)
	}
	interoptest.Must(t, cmd.Process.Signal(syscall.SIGTERM))
	state, err := cmd.Process.Wait()
	interoptest.Must(t, err)
	if !state.Exited() {
		t.Errorf("agentctl acp: %s", state)
	}
	list, err := exec.Command(testbinary.Program, "ls", "--data", s.data, "-o", "json").Output()
	interoptest.Must(t, err)
	if n := strings.Count(string(list), `"session":"s_`); n != 1 || !strings.Contains(string(list), used) {
		t.Errorf("%d sessions: %s", n, list)
	}
}

// A server that was stopped stays so until the user starts it.
func TestAStoppedServerIsNotStartedByAnEditor(t *testing.T) {
	dir := shortDir(t) // processes may still end
	t.Setenv("XDG_RUNTIME_DIR", dir)
	file := filepath.Join(dir, "hi.script")
	interoptest.Must(t, os.WriteFile(file, []byte(`{"on":"*"}`+"\n"+`{"say":"hi"}`), 0o600))
	data := filepath.Join(dir, "data")
	e := startEditor(t, 1, "stdio", testbinary.Program, "acp", "--data", data, "--agent", "script:"+file)
	id := e.open(dir)
	e.wantStop(e.prompt(id, "go"), "end_turn")
	interoptest.Must(t, exec.Command(testbinary.Program, "stop", "--data", data).Run())
	call := e.prompt(id, "again")
	if out, err := exec.Command(testbinary.Program, "ls", "--data", data, "--no-start").CombinedOutput(); err == nil {
		t.Errorf("a server runs: %s", out)
	}
	interoptest.Must(t, exec.Command(testbinary.Program, "new", "--data", data, "--agent", "script:"+file).Run())
	e.wantStop(call, "end_turn")
	interoptest.Must(t, exec.Command(testbinary.Program, "stop", "--data", data).Run())
}
