package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// An acpMessage is a message of agentctl to an editor.
type acpMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Session string          `json:"sessionId"`
		Update  json.RawMessage `json:"update"`
		Request any             `json:"requestId"`
		Tool    struct {
			Title   string `json:"title"`
			Content []struct {
				Content struct {
					Text string `json:"text"`
				} `json:"content"`
			} `json:"content"`
		} `json:"toolCall"`
		Options []struct {
			ID   string `json:"optionId"`
			Name string `json:"name"`
			Kind string `json:"kind"`
		} `json:"options"`
		Schema json.RawMessage `json:"requestedSchema"`
		Meta   json.RawMessage `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Code protocol.Code `json:"code"`
		} `json:"data"`
	} `json:"error"`
	raw string
}

// An acpEditor is an editor at /acp, in a bubble of synctest.
type acpEditor struct {
	t    *testing.T
	ws   *websocket.Conn
	last int // id of the last request

	mu       sync.Mutex
	messages []acpMessage // that no test has taken
}

// editor connects an editor in a version of the protocol.
func (w *testServer) editor(t *testing.T, version int, dial func(context.Context) (net.Conn, error)) *acpEditor {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), "ws://server/acp", &websocket.DialOptions{HTTPClient: httpClient(dial)})
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(-1)
	e := &acpEditor{t: t, ws: ws}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = ws.CloseNow()
		<-done
	})
	go func() {
		defer close(done)
		for {
			_, b, err := ws.Read(context.Background())
			if err != nil {
				return
			}
			m := acpMessage{raw: string(b)}
			if err := json.Unmarshal(b, &m); err != nil {
				t.Errorf("%v: %s", err, b)
			}
			e.mu.Lock()
			e.messages = append(e.messages, m)
			e.mu.Unlock()
		}
	}()
	form := map[string]any{"elicitation": map[string]any{"form": map[string]any{}, "url": map[string]any{}}}
	r := e.do("initialize", map[string]any{
		"protocolVersion": version, "clientCapabilities": form, "capabilities": form,
		"clientInfo": map[string]any{"name": "zed", "version": "1"}, "info": map[string]any{"name": "zed", "version": "1"},
	})
	if want := fmt.Sprintf(`"protocolVersion":%d`, version); !strings.Contains(r, want) {
		t.Fatalf("initialize: %s", r)
	}
	return e
}

func (e *acpEditor) write(v any) {
	e.t.Helper()
	if err := e.ws.Write(e.t.Context(), websocket.MessageText, protocol.MustEncode(v)); err != nil {
		e.t.Fatal(err)
	}
}

// start sends a request and returns its id.
func (e *acpEditor) start(method string, params any) string {
	e.t.Helper()
	e.last++
	e.write(map[string]any{"jsonrpc": "2.0", "id": e.last, "method": method, "params": params})
	synctest.Wait()
	return strconv.Itoa(e.last)
}

// answer takes the answer to a request; nil: none came.
func (e *acpEditor) answer(id string) *acpMessage {
	return e.take(func(m *acpMessage) bool { return m.Method == "" && string(m.ID) == id })
}

// do sends a request that succeeds and returns its result.
func (e *acpEditor) do(method string, params any) string {
	e.t.Helper()
	a := e.answer(e.start(method, params))
	if a == nil || a.Error != nil {
		e.t.Fatalf("%s: %+v", method, a)
	}
	return string(a.Result)
}

// refused sends a request that fails and returns the code.
func (e *acpEditor) refused(method string, params any) protocol.Code {
	e.t.Helper()
	a := e.answer(e.start(method, params))
	if a == nil || a.Error == nil {
		e.t.Fatalf("%s: %+v", method, a)
	}
	return a.Error.Data.Code
}

// take removes the first message that matches and returns it, or nil.
func (e *acpEditor) take(match func(*acpMessage) bool) *acpMessage {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.messages {
		if m := e.messages[i]; match(&m) {
			e.messages = slices.Delete(e.messages, i, i+1)
			return &m
		}
	}
	return nil
}

// asked takes a request of agentctl.
func (e *acpEditor) asked() *acpMessage {
	e.t.Helper()
	m := e.take(func(m *acpMessage) bool { return m.Method != "" && len(m.ID) > 0 })
	if m == nil {
		e.t.Fatal("nothing was asked")
	}
	return m
}

// choose answers a request with its first option of a kind.
func (e *acpEditor) choose(m *acpMessage, kind string) {
	e.t.Helper()
	for _, o := range m.Params.Options {
		if o.Kind == kind {
			e.write(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]any{
				"outcome": map[string]any{"outcome": "selected", "optionId": o.ID},
			}})
			synctest.Wait()
			return
		}
	}
	e.t.Errorf("no option %s in %s", kind, m.raw)
}

// updates takes all updates and returns them as JSON, a line each.
func (e *acpEditor) updates() string {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	var lines []string
	e.messages = slices.DeleteFunc(e.messages, func(m acpMessage) bool {
		if m.Method == "session/update" {
			lines = append(lines, string(m.Params.Update)+string(m.Params.Meta))
		}
		return m.Method == "session/update"
	})
	return strings.Join(lines, "\n")
}

func (e *acpEditor) open() string {
	e.t.Helper()
	var r struct {
		Session string `json:"sessionId"`
	}
	if err := json.Unmarshal([]byte(e.do("session/new", map[string]any{"cwd": "", "mcpServers": []any{}})), &r); err != nil {
		e.t.Fatal(err)
	}
	return r.Session
}

func ofSession(id string) map[string]any {
	return map[string]any{"sessionId": id, "cwd": "", "mcpServers": []any{}}
}

func (e *acpEditor) prompt(id, text string) string {
	e.t.Helper()
	return e.start("session/prompt", map[string]any{
		"sessionId": id, "prompt": []any{map[string]any{"type": "text", "text": text}},
	})
}

func (e *acpEditor) cancel(id string) {
	e.t.Helper()
	e.write(map[string]any{"jsonrpc": "2.0", "method": "session/cancel", "params": map[string]any{"sessionId": id}})
	synctest.Wait()
}

// stopped checks the answer to a prompt; empty: it has none yet.
func (e *acpEditor) stopped(prompt, reason string) {
	e.t.Helper()
	a := e.answer(prompt)
	switch {
	case reason == "" && a == nil:
	case a == nil || reason == "" || a.Error != nil || string(a.Result) != `{"stopReason":"`+reason+`"}`:
		e.t.Errorf("prompt %s: %+v, want %q", prompt, a, reason)
	}
}

// wants checks that a text contains words, in this order.
func wants(t *testing.T, text string, words ...string) {
	t.Helper()
	rest := text
	for _, word := range words {
		_, after, ok := strings.Cut(rest, word)
		if !ok {
			t.Errorf("no %q in its place in\n%s", word, text)
			return
		}
		rest = after
	}
}

// acpScript is the script of the sessions of editors.
var acpScript = []string{
	`{"on":"ask"}`,
	`{"ask":"command","title":"Look","command":"git status","input":{"command":"git status"},"explain":"to see changes","then":[{"say":"it ran"}],"else":[{"say":"it did not run"}]}`,
	`{"on":"question"}`,
	`{"ask":"question","title":"Which?","questions":[{"id":"q","text":"Which?","choices":[{"id":"a","label":"A"},{"id":"b","label":"B"}]}],"then":[{"say":"thanks"}],"else":[{"say":"no answer"}]}`,
	`{"on":"page"}`,
	`{"ask":"question","title":"Log in","page":{"url":"https://login.example/a?code=s3cret","host":"x"},"then":[{"say":"thanks"}],"else":[{"say":"no answer"}]}`,
	`{"on":"slow"}`,
	`{"say":"begun"}`,
	`{"wait":"go"}`,
	`{"say":"finished"}`,
	`{"on":"*"}`,
	`{"say":"hello back"}`,
}

// inACP runs a test with a server in a bubble.
func inACP(t *testing.T, test func(t *testing.T, w *testServer)) {
	synctest.Test(t, func(t *testing.T) { test(t, newTestServer(t, acpScript...)) })
}

func TestASessionIsSharedWithEditors(t *testing.T) {
	inACP(t, func(t *testing.T, w *testServer) {
		ann, bob := w.editor(t, 1, w.dial), w.editor(t, 1, w.dial)
		id := ann.open()
		bob.do("session/resume", ofSession(id))
		ann.updates()
		bob.updates()

		// A message of another is shown, one's own is not. The first turn is ann's; bob's waits.
		slow := ann.prompt(id, "slow")
		waits := bob.prompt(id, "hello")
		also := ann.prompt(id, "more")
		wants(t, bob.updates(), "slow", "user_message_chunk", "by", "begun")
		if text := ann.updates(); strings.Contains(text, "user_message_chunk") {
			t.Errorf("ann gets her own message: %s", text)
		}

		// bob cancels only his own message.
		bob.cancel(id)
		bob.stopped(waits, "cancelled")
		ann.stopped(slow, "")
		ann.stopped(also, "")

		// ann cancels her turn and her queued message.
		ann.cancel(id)
		ann.stopped(slow, "cancelled")
		ann.stopped(also, "cancelled")

		// A turn that ann began while bob's message waits: it ends, and bob's starts.
		slow = ann.prompt(id, "slow")
		waits = bob.prompt(id, "hello")
		bob.stopped(waits, "")
		ann.cancel(id)
		ann.stopped(slow, "cancelled")
		bob.stopped(waits, "end_turn")
		wants(t, ann.updates(), "hello", "user_message_chunk", "hello back")
	})
}

func TestARequestIsDecidedOnceAmongEditors(t *testing.T) {
	inACP(t, func(t *testing.T, w *testServer) {
		ann, bob := w.editor(t, 1, w.dial), w.editor(t, 2, w.dial)
		id := ann.open()
		bob.do("session/resume", ofSession(id))
		for _, winner := range []string{"ann", "terminal"} {
			prompt := ann.prompt(id, "ask")
			toAnn, toBob := ann.asked(), bob.asked()
			outcome := "allowed"
			if winner == "ann" {
				ann.choose(toAnn, "allow_once")
			} else {
				outcome = "denied"
				c := w.client("carol")
				request := mustObserve(t, c, id, wsclient.SubscribeOptions{}, eventOfType(protocol.ApprovalRequested)).
					state.Approvals[0].Request
				do[protocol.ApproveResult](t, c, protocol.DoApprove, id, protocol.ApproveData{
					Request: request, Decision: protocol.Deny,
				})
				_ = c.Close()
				if ann.take(func(m *acpMessage) bool { return m.Method == "$/cancel_request" }) == nil {
					t.Error("ann's question is not withdrawn")
				}
				wants(t, ann.updates(), "denied by carol")
			}
			withdrawn := bob.take(func(m *acpMessage) bool { return m.Method == "$/cancel_request" })
			if withdrawn == nil || fmt.Sprintf("%q", withdrawn.Params.Request) != string(toBob.ID) {
				t.Errorf("bob's question is not withdrawn: %+v", withdrawn)
			}
			bob.choose(toBob, "reject_once") // late: it decides nothing
			wants(t, bob.updates(), `"decided"`, outcome+" by")
			ann.stopped(prompt, "end_turn")
			ann.updates()
		}
	})
}

func TestAnswersThatDecideNothing(t *testing.T) {
	for name, answer := range map[string]string{
		"cancelled":         `"result":{"outcome":{"outcome":"cancelled"}}`,
		"an unknown option": `"result":{"outcome":{"outcome":"selected","optionId":"9"}}`,
		"no option":         `"result":{"outcome":{"outcome":"selected"}}`,
		"an error":          `"error":{"code":-32603,"message":"x"}`,
		"nothing":           `"result":null`,
		"a wrong type":      `"result":{"outcome":"selected","optionId":"0"}`,
	} {
		t.Run(name, func(t *testing.T) {
			inACP(t, func(t *testing.T, w *testServer) {
				e := w.editor(t, 1, w.dial)
				id := e.open()
				prompt := e.prompt(id, "ask")
				m := e.asked()
				e.write(json.RawMessage(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,` + answer + `}`))
				e.stopped(prompt, "")
				if c := w.client("carol"); len(mustObserve(t, c, id, wsclient.SubscribeOptions{},
					eventOfType(protocol.ApprovalRequested)).state.Approvals) != 1 {
					t.Error("the request is not pending")
				}
				e.cancel(id)
				e.stopped(prompt, "cancelled")
			})
		})
	}
}

func TestAnEditorLoadsASessionInMidTurn(t *testing.T) {
	inACP(t, func(t *testing.T, w *testServer) {
		ann := w.editor(t, 1, w.dial)
		id := ann.open()
		ann.stopped(ann.prompt(id, "hi"), "end_turn")
		slow := ann.prompt(id, "slow")
		for _, version := range []int{1, 2} {
			bob := w.editor(t, version, w.dial)
			method, params := "session/load", ofSession(id)
			if version == 2 {
				method, params["replayFrom"] = "session/resume", map[string]any{"type": "start"}
			}
			bob.do(method, params)
			text := bob.updates()
			wants(t, text, "hi", "user_message_chunk", "hello back", "slow", "user_message_chunk", "begun")
			if strings.Count(text, "hello back") != 1 || strings.Count(text, "begun") != 1 {
				t.Errorf("version %d: repeated: %s", version, text)
			}
			_ = bob.ws.CloseNow()
		}
		bob := w.editor(t, 1, w.dial)
		bob.do("session/load", ofSession(id))
		bob.updates()
		w.script.OpenGate("go")
		ann.stopped(slow, "end_turn")
		if text := bob.updates(); strings.Count(text, "finished") != 1 {
			t.Errorf("after the load: %s", text)
		}
	})
}

func TestTheEndOfAnEditorEndsOnlyUnusedSessions(t *testing.T) {
	for _, end := range []string{"the connection", "session/close"} {
		t.Run(end, func(t *testing.T) {
			inACP(t, func(t *testing.T, w *testServer) {
				ann := w.editor(t, 1, w.dial)
				unused, used := ann.open(), ann.open()
				prompt := ann.prompt(used, "slow")
				if end == "session/close" {
					ann.do(end, ofSession(unused))
					ann.do(end, ofSession(used))
					ann.stopped(prompt, "cancelled")
				} else {
					_ = ann.ws.CloseNow()
				}
				synctest.Wait()
				list := do[protocol.ListResult](t, w.client("carol"), protocol.DoList, "", protocol.ListData{Closed: true})
				if len(list.Sessions) != 1 || list.Sessions[0].Session != used || list.Sessions[0].Status != protocol.Running {
					t.Errorf("sessions: %s", protocol.MustEncode(list))
				}
			})
		})
	}
}

func TestEditorsListForkAndDeleteSessions(t *testing.T) {
	inACP(t, func(t *testing.T, w *testServer) {
		e := w.editor(t, 1, w.dial)
		id := e.open()
		e.stopped(e.prompt(id, "hi"), "end_turn")
		if code := e.refused("session/fork", ofSession(id)); code != protocol.CodeUnsupported { // by a script
			t.Errorf("fork: %s", code)
		}
		wants(t, e.do("session/list", map[string]any{}), `"sessionId":"`+id+`"`)
		e.do("session/delete", map[string]any{"sessionId": id})
		if list := e.do("session/list", map[string]any{}); strings.Contains(list, id) {
			t.Errorf("a deleted session is listed: %s", list)
		}
		if s := do[protocol.SnapshotResult](t, w.client("carol"), protocol.DoSnapshot, id, nil); s.Status != protocol.Closed {
			t.Errorf("a deleted session is %s, want archived", s.Status)
		}
		if code := e.refused("session/prompt", map[string]any{"sessionId": id, "prompt": []any{}}); code != protocol.CodeNoSession {
			t.Errorf("a prompt to it: %s", code)
		}
	})
}

func TestAnEditorMayWhatItsRoleMay(t *testing.T) {
	inACP(t, func(t *testing.T, w *testServer) {
		ann := w.editor(t, 1, w.dial)
		id := ann.open()
		for role, may := range map[protocol.Role]bool{protocol.RoleObserver: false, protocol.RoleOperator: true} {
			bob := w.editor(t, 1, w.listenFor(role, id))
			bob.do("session/load", ofSession(id))
			prompt := ann.prompt(id, "ask")
			if m := bob.take(func(m *acpMessage) bool { return m.Method != "" && len(m.ID) > 0 }); m != nil {
				t.Errorf("an %s is asked: %s", role, m.raw)
			}
			a := bob.answer(bob.prompt(id, "hi"))
			if refused := a != nil && a.Error != nil && a.Error.Data.Code == protocol.CodeForbidden; refused == may {
				t.Errorf("a prompt of an %s: %+v", role, a)
			}
			ann.choose(ann.asked(), "reject_once")
			ann.stopped(prompt, "end_turn")
			_ = bob.ws.CloseNow()
		}
	})
}

func TestAnAgentDecidesNothingAsAnEditor(t *testing.T) {
	inACP(t, func(t *testing.T, w *testServer) {
		ann := w.editor(t, 1, w.dial)
		bob := w.editor(t, 1, w.listenFor(protocol.RoleAgent, ann.open()))
		own := bob.open()
		prompt := bob.prompt(own, "ask")
		if m := bob.take(func(m *acpMessage) bool { return m.Method != "" && len(m.ID) > 0 }); m != nil {
			t.Errorf("an agent is asked: %s", m.raw)
		}
		ann.do("session/resume", ofSession(own))
		ann.choose(ann.asked(), "reject_once")
		bob.stopped(prompt, "end_turn")
	})
}

func TestADirectoryOfAnEditorMustExistOnTheServer(t *testing.T) {
	inACP(t, func(t *testing.T, w *testServer) {
		e := w.editor(t, 1, w.dial)
		a := e.answer(e.start("session/new", map[string]any{"cwd": t.TempDir() + "/nowhere", "mcpServers": []any{}}))
		if a == nil || a.Error == nil || !strings.Contains(a.Error.Message, "agentctl acp --cwd DIR") {
			t.Errorf("answered %+v", a)
		}
	})
}

func TestAnEditorAnswersQuestions(t *testing.T) {
	inACP(t, func(t *testing.T, w *testServer) {
		e := w.editor(t, 1, w.dial)
		id := e.open()
		for answer, want := range map[string]string{
			`{"action":"accept","content":{"q":"b"}}`:           "thanks",
			`{"action":"accept","content":{"q/other":"green"}}`: "thanks",
			`{"action":"decline"}`:                              "no answer",
		} {
			prompt := e.prompt(id, "question")
			m := e.asked()
			wants(t, m.raw, `"method":"elicitation/create"`)
			e.write(json.RawMessage(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + answer + `}`))
			e.stopped(prompt, "end_turn")
			wants(t, e.updates(), want)
		}
	})
}

// A page to open is shown with its whole URL to the editors, and is in no event.
func TestAnEditorOpensPages(t *testing.T) {
	inACP(t, func(t *testing.T, w *testServer) {
		for _, version := range []int{1, 2} {
			e := w.editor(t, version, w.dial)
			id := e.open()
			for answer, want := range map[string]string{`{"action":"accept"}`: "thanks", `{"action":"decline"}`: "no answer"} {
				e.prompt(id, "page")
				m := e.asked()
				for _, part := range []string{
					`"method":"elicitation/create"`, `"mode":"url"`, `"url":"https://login.example/a?code=s3cret"`, "page of login.example?",
				} {
					wants(t, m.raw, part)
				}
				e.write(json.RawMessage(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + answer + `}`))
				text := e.updates()
				if wants(t, text, want); strings.Contains(text, "s3cret") {
					t.Errorf("the URL is in an update: %s", text)
				}
			}
		}
	})
}

// An explanation of the agent is added to the card of its request.
func TestAnExplanationIsOnTheCard(t *testing.T) {
	inACP(t, func(t *testing.T, w *testServer) {
		e := w.editor(t, 1, w.dial)
		id := e.open()
		prompt := e.prompt(id, "ask")
		m := e.asked()
		e.updates()
		do[protocol.ApproveResult](t, w.client("carol"), protocol.DoApprove, id, protocol.ApproveData{Decision: protocol.Explain})
		wants(t, e.updates(), "git status", "the agent explains", "to see changes", `"toolCallId":"request:`)
		e.choose(m, "allow_once")
		e.stopped(prompt, "end_turn")
	})
}

// What is decided in an editor is what runs.
func TestARequestInAnEditorHasAllThatRuns(t *testing.T) {
	dir := t.TempDir()
	cases, lines := requestScript(t, dir)
	lines = append(lines, `{"say":"done"}`)
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, lines...)
		e := w.editor(t, 1, w.dial)
		id := e.open()
		prompt := e.prompt(id, "go")
		allowed := 0
		for i := range cases {
			m := e.asked()
			p := &m.Params
			shown := p.Tool.Title + "\n"
			for _, c := range p.Tool.Content {
				shown += c.Content.Text + "\n"
			}
			allows := false
			for _, o := range p.Options {
				shown += o.Name + "\n"
				allows = allows || strings.HasPrefix(o.Kind, "allow")
			}
			missing := cases[i].Missing(shown)
			args := protocol.ReadArguments([]byte(cases[i].Input))
			unclear := cases[i].Input != "" && args.Opaque() != ""
			if allows && (missing != nil || unclear) {
				t.Errorf("%s: can be allowed, lacks %q: %s", cases[i].Name, missing, shown)
			}
			if !allows {
				wants(t, shown, "agentctl attach "+id)
			} else {
				allowed++
			}
			if title := p.Tool.Title; cases[i].Kind == protocol.ApproveCommand && cases[i].Command != "" &&
				strings.Contains(title, "Look around") || strings.ContainsAny(title, "\n\x1b\u202e") {
				t.Errorf("%s: the title is %q", cases[i].Name, title)
			}
			e.choose(m, "reject_once")
		}
		if a := e.answer(prompt); a == nil || a.Error != nil { // how a denial ends a turn is not of interest
			t.Errorf("the prompt: %+v", a)
		}
		if allowed < len(cases)/2 {
			t.Errorf("only %d of %d requests can be allowed", allowed, len(cases))
		}
	})
}

// A message that is no request has an error, and the connection lives on.
func TestHostileMessagesOfAnEditor(t *testing.T) {
	inACP(t, func(t *testing.T, w *testServer) {
		e := w.editor(t, 1, w.dial)
		id := e.open()
		for _, line := range invalidFrames(id) {
			if len(line) < 512<<10 {
				_ = e.ws.Write(t.Context(), websocket.MessageText, []byte(strings.ToValidUTF8(line, "?")))
			}
		}
		for _, method := range []string{"session/new", "session/load", "session/prompt", "session/list", "session/set_mode"} {
			for _, params := range []any{nil, 7, []any{}, "x", map[string]any{"sessionId": 7}} {
				if a := e.answer(e.start(method, params)); a == nil {
					t.Errorf("%s %v has no answer", method, params)
				}
			}
		}
		e.stopped(e.prompt(id, "hi"), "end_turn")
	})
}

func TestAHundredEditorsShareASession(t *testing.T) {
	inACP(t, func(t *testing.T, w *testServer) {
		const count = 100
		ann := w.editor(t, 1, w.dial)
		id := ann.open()
		editors := make([]*acpEditor, count)
		for i := range editors {
			editors[i] = w.editor(t, 1+i%2, w.dial)
			editors[i].do("session/resume", ofSession(id))
		}
		prompt := ann.prompt(id, "ask")
		var asked []*acpMessage
		for _, e := range editors {
			asked = append(asked, e.asked())
		}
		editors[count/2].choose(asked[count/2], "allow_once")
		for i, e := range editors {
			if i != count/2 {
				e.write(map[string]any{"jsonrpc": "2.0", "id": asked[i].ID, "result": map[string]any{
					"outcome": map[string]any{"outcome": "selected", "optionId": "2"},
				}})
			}
		}
		ann.stopped(prompt, "end_turn")
		for i, e := range editors {
			text := e.updates()
			wants(t, text, "allowed by", "it ran")
			if strings.Count(text, "it ran") != 1 || strings.Contains(text, "nothing was decided") {
				t.Fatalf("editor %d: %s", i, text)
			}
		}
	})
}

// An editor that lost its socket connects again and loads the session, which has continued.
func TestALostEditorLoadsItsSessionAgain(t *testing.T) {
	inACP(t, func(t *testing.T, w *testServer) {
		ann := w.editor(t, 1, w.dial)
		id := ann.open()
		prompt := ann.prompt(id, "slow")
		bob := w.editor(t, 1, w.dial)
		bob.do("session/resume", ofSession(id))
		_ = bob.ws.Close(websocket.StatusPolicyViolation, "")
		w.script.OpenGate("go")
		ann.stopped(prompt, "end_turn")
		again := w.editor(t, 1, w.dial)
		again.do("session/load", ofSession(id))
		wants(t, again.updates(), "slow", "begun", "finished")
	})
}

// An unused session that its editor could not end, as after a kill, is removed a day later, also by
// another server.
func TestAnUnusedSessionIsRemovedLater(t *testing.T) {
	inACP(t, func(t *testing.T, w *testServer) {
		c := w.client("carol")
		unused := do[protocol.CreateResult](t, c, protocol.DoCreate, "", protocol.CreateData{DiscardUnused: true}).Session
		used := do[protocol.CreateResult](t, c, protocol.DoCreate, "", protocol.CreateData{DiscardUnused: true, Prompt: "hi"}).Session
		synctest.Wait()
		_ = c.Close()
		w.stop()
		w.start()
		for _, want := range [][]string{{unused, used}, {used}} {
			time.Sleep(23 * time.Hour)
			c := w.client("carol")
			list := do[protocol.ListResult](t, c, protocol.DoList, "", protocol.ListData{Closed: true})
			_ = c.Close()
			var got []string
			for _, s := range list.Sessions {
				got = append(got, s.Session)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("sessions %q, want %q", got, want)
			}
		}
	})
}
