package openapi

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agentctl/internal/export"
	"agentctl/protocol"
	"agentctl/server/web"
)

// A tester sends requests through a judge.
type tester struct {
	*judge
	url    string
	client *http.Client
}

func newTester(t *testing.T, url string) *tester {
	t.Helper()
	j := newJudge(t)
	return &tester{j, url, &http.Client{Transport: j}}
}

// do sends a request with a body, "" for none, and returns the answer.
func (c *tester) do(method, path, body string) (status int, answer []byte) {
	c.t.Helper()
	resp := c.open(method, path, body)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	must(c.t, err)
	return resp.StatusCode, answer
}

// succeed sends a request that must succeed.
func (c *tester) succeed(method, path, body string) []byte {
	c.t.Helper()
	status, answer := c.do(method, path, body)
	if status >= http.StatusBadRequest {
		c.t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	return answer
}

// open sends a request and returns the response before its body.
func (c *tester) open(method, path, body string) *http.Response {
	c.t.Helper()
	r := newRequest(c.t, method, c.url+path, body)
	r.Header.Set("Authorization", "Bearer secret")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.client.Do(r)
	must(c.t, err)
	return resp
}

// runEverything creates the session fix and runs a turn in which everything happens. It calls
// waiting before each decision and at the end.
func (c *tester) runEverything(waiting func()) {
	c.t.Helper()
	const at = "/api/sessions/fix"
	c.succeed("POST", "/api/sessions", `{"name":"fix"}`)
	answer := c.succeed("POST", at+"/messages?wait=turn", `{"text":"show everything"}`)
	for {
		waiting()
		var m web.MessageResult
		must(c.t, json.Unmarshal(answer, &m))
		if m.Needs != web.NeedsApproval {
			return
		}
		var pending web.ApprovalsResult
		must(c.t, json.Unmarshal(c.succeed("GET", at+"/approvals", ""), &pending))
		c.succeed("POST", at+"/approvals/"+pending.Approvals[0].Request+"/decision", `{"decision":"allow_once"}`)
		answer = c.succeed("GET", at+"/messages/"+m.MessageID+"?wait=turn", "")
	}
}

func TestEveryKindOfItemIsDescribed(t *testing.T) {
	url, _ := servePage(t)
	c := newTester(t, url)
	paths := []string{"", "/state", "/messages", "/history?limit=500", "/queue", "/approvals", "/options"}
	for _, format := range export.Formats {
		paths = append(paths, "/export?format="+format)
	}
	c.runEverything(func() {
		for _, path := range paths {
			c.succeed("GET", "/api/sessions/fix"+path, "")
		}
	})
	for _, kind := range []protocol.ItemKind{
		protocol.ItemText, protocol.ItemReasoning, protocol.ItemTool, protocol.ItemApproval, protocol.ItemEvent,
	} {
		if !c.items[kind] {
			t.Errorf("no answer has an item of kind %s", kind)
		}
	}
}

// The streams of a session and of the list, from their beginning to the error that ends them.
func TestEveryServerSentEventIsDescribed(t *testing.T) {
	url, stop := servePage(t)
	c := newTester(t, url)
	streams := map[string]*bufio.Reader{}
	follow := func(path, until string) {
		resp := c.open("GET", path, "")
		t.Cleanup(func() { _ = resp.Body.Close() })
		streams[path] = bufio.NewReader(resp.Body)
		for line := ""; !strings.Contains(line, until); {
			var err error
			line, err = streams[path].ReadString('\n')
			must(t, err)
		}
	}
	follow("/api/sessions/events", "event: list")
	c.runEverything(func() {})
	follow("/api/sessions/fix/events", `"type":"turn.ended"`)
	follow("/api/sessions/fix/events?fold=1", `"type":"turn.ended"`)
	follow("/api/sessions/fix/events?since=0abc:7", "event: reset")
	stop()
	for _, body := range streams {
		_, err := io.Copy(io.Discard, body)
		if !errors.Is(err, io.ErrUnexpectedEOF) { // a server that stops may cut a stream
			must(t, err)
		}
	}
	for _, name := range []string{
		"list", "session.summary", "session.created", "turn.started", "text.delta", "tool.ended",
		"approval.resolved", "plan.completed", "task.failed", "retry.scheduled", "turn.ended", "reset", "failed",
	} {
		if !c.named[name] {
			t.Errorf("no stream has %s: %v", name, c.named)
		}
	}
}

// Each route fails for a session that does not exist, and a route fails with each code.
func TestEveryErrorIsDescribed(t *testing.T) {
	url, _ := servePage(t)
	c := newTester(t, url)
	for i := range web.Routes() {
		r := &web.Routes()[i]
		if r.Name == "followSessions" { // a stream without an end
			continue
		}
		path := r.Path
		for _, name := range r.Wildcards() {
			path = strings.ReplaceAll(path, "{"+name+"}", "missing")
		}
		c.do(r.Method, path, "")
	}
	failing := &failingCommands{}
	s := httptest.NewServer(web.Handler(web.Config{
		Commands: failing, MaxBody: func() int64 { return 1 << 10 }, Log: slog.New(slog.DiscardHandler),
	}))
	defer s.Close()
	c.url = s.URL
	for _, code := range protocol.Codes {
		failing.err = &protocol.Error{Code: code, Message: "m", Limit: 1, Winner: &protocol.Winner{
			By: protocol.Actor{Name: "ada"}, Outcome: protocol.Denied, Decision: protocol.Deny, Option: "no",
		}}
		if status, answer := c.do("GET", "/api/sessions/fix/context", ""); status != web.StatusOf(code) {
			t.Errorf("%s: %d %s", code, status, answer)
		}
	}
	for _, code := range protocol.Codes {
		if !c.codes[code] {
			t.Errorf("no answer has the code %s", code)
		}
	}
}

// failingCommands fails each command.
type failingCommands struct{ err error }

func (f *failingCommands) Do(*http.Request, *protocol.Command) (json.RawMessage, error) {
	return nil, f.err
}
func (f *failingCommands) Resolve(*http.Request, string) (string, error) { return "", f.err }
func (f *failingCommands) Actor(*http.Request) protocol.Actor            { return protocol.Actor{} }
