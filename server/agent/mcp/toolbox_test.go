package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/protocol"
)

func TestTheToolsOfAProgramAreCalled(t *testing.T) {
	t.Parallel()
	s := program(t, "box", "tools")
	s.Env = append(s.Env, "MARK=set")
	r := newRig(t, s)
	echo := r.tool("mcp__box__echo")
	if echo.Kind != protocol.ToolOther || echo.Parallel || echo.About != "about echo" ||
		!strings.Contains(string(echo.Schema), `"text"`) {
		t.Errorf("%+v %s", echo, echo.Schema)
	}
	if p, err := r.tool("mcp__box__echo").Preview(t.Context(), nil); err != nil || p.Safe || p.Contained ||
		!strings.Contains(p.Title, "MCP server box") || p.Request.Kind != protocol.ApproveTool {
		t.Errorf("a hint of the server grants: %+v, %v", p, err)
	}
	for _, c := range []struct{ tool, input, want string }{
		{"echo", `{"text":"hi"}`, "echo hi"},
		{"env", `{"text":"MARK"}`, "set"},
		{"env", `{"text":"AGENTCTL_SESSION"}`, "s"},
		{"structured", `{"text":""}`, `{"n":1}`},
	} {
		got, err := r.call(t.Context(), "mcp__box__"+c.tool, c.input, nil)
		if err != nil || got.Failed || got.Text != c.want {
			t.Errorf("%s: %+v, %v", c.tool, got, err)
		}
	}
	got, err := r.call(t.Context(), "mcp__box__fail", `{"text":""}`, nil)
	if err != nil || !got.Failed || got.Text != "it failed" {
		t.Errorf("fail: %+v, %v", got, err)
	}
	if got, err := r.call(t.Context(), "mcp__box__echo", `{"other":1}`, nil); err == nil && !got.Failed {
		t.Errorf("invalid arguments: %+v", got)
	}
	got, err = r.call(t.Context(), "mcp__box__image", `{"text":""}`, nil)
	if err != nil || len(got.Files) != 1 || got.Files[0].MediaType != "image/png" || len(got.Content) != 2 ||
		!strings.Contains(got.Text, "image/tiff") || !strings.Contains(got.Text, "file:///a") {
		t.Errorf("image: %+v, %v", got, err)
	}
	got, err = r.call(t.Context(), "mcp__box__large", `{"text":""}`, nil)
	if err != nil || len(got.Text) > maxShown+100 || !strings.HasSuffix(got.Text, "[the rest was left out]") {
		t.Errorf("large: %d bytes, %v", len(got.Text), err)
	}
	if notices, _ := r.host.told(); len(notices) > 0 {
		t.Errorf("notices %q", notices)
	}
}

func TestAReadOnlyHintCountsOnlyIfTheServerIsTrusted(t *testing.T) {
	t.Parallel()
	s := program(t, "box", "tools")
	s.TrustReadOnly = true
	r := newRig(t, s)
	for name, want := range map[string]bool{"mcp__box__echo": true, "mcp__box__env": false} {
		p, err := r.tool(name).Preview(t.Context(), nil)
		if spec := r.tool(name); err != nil || p.Safe != want || spec.Parallel != want {
			t.Errorf("%s: %+v, %+v, %v", name, p.Safe, spec.Parallel, err)
		}
	}
}

func TestPromptsAndResources(t *testing.T) {
	t.Parallel()
	r := newRig(t, program(t, "box", "tools"))
	commands := r.Commands()
	if len(commands) != 1 || commands[0] != (protocol.SlashCommand{
		Name: "mcp__box__review", About: "reviews a file", Hint: "file [focus]",
	}) {
		t.Fatalf("%+v", commands)
	}
	parts, err := r.Expand(t.Context(), "mcp__box__review", "main.go the error paths")
	if err != nil || len(parts) != 1 || parts[0].Text != "review main.go for the error paths" {
		t.Errorf("%+v, %v", parts, err)
	}
	_, err = r.Expand(t.Context(), "mcp__box__review", "")
	if err == nil || !strings.Contains(err.Error(), "needs file") {
		t.Errorf("without an argument: %v", err)
	}
	if parts, err := r.Expand(t.Context(), "help", ""); err != nil || parts != nil {
		t.Errorf("another command: %+v, %v", parts, err)
	}
	if got := r.Resources(); len(got) != 1 || got[0] != (protocol.Resource{Name: "box:note://1", Title: "note"}) {
		t.Errorf("resources %+v", got)
	}
	parts, err = r.ReadResource(t.Context(), "box:note://1")
	if err != nil || len(parts) != 1 || parts[0].Text != "[resource note://1]\na note" {
		t.Errorf("%+v, %v", parts, err)
	}
	for _, name := range []string{"other:note://1", "box", "box:", "box:note:// 1", "mail@box:x"} {
		if parts, err := r.ReadResource(t.Context(), name); err != nil || parts != nil {
			t.Errorf("%q: %+v, %v", name, parts, err)
		}
	}
	if _, err := r.ReadResource(t.Context(), "box:note://2"); err == nil {
		t.Error("a resource that does not exist is read")
	}
	got, err := r.call(t.Context(), "list_resources", `{"server":"box"}`, nil)
	if err != nil || !strings.Contains(got.Text, "note://1 note text/plain") {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = r.call(t.Context(), "read_resource", `{"server":"box","uri":"note://1"}`, nil)
	if err != nil || got.Text != "[resource note://1]\na note" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := r.call(t.Context(), "read_resource", `{"server":"x","uri":"y"}`, nil); err == nil ||
		!strings.Contains(err.Error(), "the servers are box") {
		t.Errorf("%v", err)
	}
}

// A list of a server may have null in the place of an item.
func TestNullInAListIsLeftOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, program(t, "nulls", "nulls"))
	if got := r.names(); got != "list_resources read_resource" || len(r.Commands())+len(r.Resources()) != 0 {
		t.Errorf("%q, %v, %v", got, r.Commands(), r.Resources())
	}
	got, err := r.call(t.Context(), "list_resources", `{"server":"nulls"}`, nil)
	if err != nil || got.Text != "[no resources]" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = r.call(t.Context(), "read_resource", `{"server":"nulls","uri":"x"}`, nil); err != nil || got.Text != "[no output]" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestACallIsInterruptedAndTimesOut(t *testing.T) {
	t.Parallel()
	s := program(t, "box", "tools")
	s.CallTimeout = 2 * time.Second
	r := newRig(t, s)
	progress := ""
	got, err := r.call(t.Context(), "mcp__box__wait", `{"text":""}`, func(text string) { progress += text })
	if err == nil || !strings.Contains(err.Error(), "within 2s") || progress != "1 of 2 half\n" {
		t.Errorf("%+v, %v, progress %q", got, err, progress)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = r.call(ctx, "mcp__box__wait", `{"text":""}`, func(string) { cancel() })
	if err == nil || ctx.Err() == nil {
		t.Errorf("not interrupted: %v", err)
	}
	if got, err := r.call(t.Context(), "mcp__box__echo", `{"text":"on"}`, nil); err != nil || got.Text != "echo on" {
		t.Errorf("after it: %+v, %v", got, err)
	}
}

// A call whose message the program does not read times out, and Close stops the program.
func TestAServerThatDoesNotReadIsEnded(t *testing.T) {
	t.Parallel()
	s := program(t, "box", "deaf")
	s.CallTimeout = 500 * time.Millisecond
	r := newRig(t, s)
	large := `{"text":"` + strings.Repeat("x", 1<<20) + `"}`
	for range 2 {
		if _, err := r.call(t.Context(), "mcp__box__echo", large, nil); err == nil {
			t.Error("no error")
		}
	}
	r.Close()
}

func TestAChangedListIsPublishedWithTheNextRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, program(t, "box", "tools"))
	if _, err := r.call(t.Context(), "mcp__box__grow", `{"text":""}`, nil); err != nil {
		t.Fatal(err)
	}
	r.until("offered", func() bool { return len(r.connections[0].offered().tools) == 13 })
	if strings.Contains(r.names(), "grown") {
		t.Error("published during a request")
	}
	r.prepare()
	if got, err := r.call(t.Context(), "mcp__box__grown", `{"text":""}`, nil); err != nil || got.Text != "grown" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Its tools stay until then.
func TestAServerThatDiesIsReportedOnceAndStartedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, program(t, "box", "tools"))
	for range 2 { // the second time without a notice
		if _, err := r.call(t.Context(), "mcp__box__die", `{"text":""}`, nil); err == nil {
			t.Fatal("no error")
		}
		r.prepare()
		r.until("connected", func() bool {
			got, err := r.call(t.Context(), "mcp__box__echo", `{"text":"x"}`, nil)
			return err == nil && got.Text == "echo x"
		})
	}
	notices, logs := r.host.told()
	if len(notices) != 1 || !strings.Contains(strings.Join(logs, "\n"), "next attempt in 500ms") {
		t.Errorf("notices %q, logs %q", notices, logs)
	}
}

func TestHostileServersAreBoundedAndHurtNoOther(t *testing.T) {
	t.Parallel()
	list := []Server{
		program(t, "good", "tools"), program(t, "hang", "hang"), program(t, "noise", "noise"),
		program(t, "exit", "exit"), program(t, "many", "many"),
		{Name: "gone", Command: []string{"/does/not/exist"}},
		{Name: "unset", Problem: "${X} is not set"},
		{Name: "refused", URL: "http://127.0.0.1:1/"},
	}
	list[1].StartTimeout = 200 * time.Millisecond
	r := newRig(t, list...)
	r.until("connected", func() bool {
		notices, _ := r.host.told()
		return r.connected(4) == nil && len(notices) == 7
	})
	r.prepare()
	if got, err := r.call(t.Context(), "mcp__good__echo", `{"text":"x"}`, nil); err != nil || got.Text != "echo x" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := r.connected(1); err == nil ||
		!strings.HasPrefix(err.Error(), "the MCP server hang is not connected: no answer within 200ms") {
		t.Errorf("%v", err)
	}
	if n := strings.Count(r.names(), "mcp__many__"); n != maxTools {
		t.Errorf("%d tools of many", n)
	}
	for _, s := range r.Tools() {
		if len(s.Name) > maxName || len(s.Schema) > maxSchema || strings.ContainsAny(s.Name, ". ") {
			t.Errorf("%s: %d bytes", s.Name, len(s.Schema))
		}
	}
	notices, _ := r.host.told()
	slices.Sort(notices)
	for i, want := range []string{
		"MCP server exit: ", "MCP server gone: ", "MCP server hang: no answer within 200ms",
		"MCP server many: left out: all tools after the first 128; tool a.big (its input schema is larger than " +
			"32 KiB); tool none (its input is not an object)",
		"MCP server noise: connect: ", "MCP server refused: ", "MCP server unset is not used: ${X} is not set",
	} {
		if i >= len(notices) || !strings.HasPrefix(notices[i], want) {
			t.Fatalf("notices %q, want %q", notices, want)
		}
	}
	if !strings.Contains(notices[0], "no licence found") {
		t.Errorf("%q lacks what the program wrote", notices[0])
	}
}

func TestAResultThatIsTooLargeEndsTheConnectionOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t, program(t, "box", "tools"))
	if got, err := r.call(t.Context(), "mcp__box__huge", `{"text":""}`, nil); err == nil {
		t.Fatalf("%d bytes", len(got.Text))
	}
	r.until("connected", func() bool {
		got, err := r.call(t.Context(), "mcp__box__echo", `{"text":"x"}`, nil)
		return err == nil && got.Text == "echo x"
	})
}

func TestAServerThatDoesNotAnswerTheNewestProtocolIsAskedForTheOlder(t *testing.T) {
	t.Parallel()
	s := program(t, "box", "silent-discover")
	s.StartTimeout = time.Second
	r := newRig(t, s)
	r.until("connected", func() bool { return r.connected(0) == nil })
	r.prepare()
	if got, err := r.call(t.Context(), "mcp__box__echo", `{"text":"x"}`, nil); err != nil || got.Text != "echo x" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNoProcessOfAServerIsLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t, program(t, "box", "child"))
	child, err := r.call(t.Context(), "mcp__box__env", `{"text":"CHILD"}`, nil)
	if err != nil || !alive(child.Text) {
		t.Fatalf("child %+v, %v", child, err)
	}
	r.Close()
	r.until("gone", func() bool { return !alive(child.Text) })
}

func TestAServerByHTTPGetsItsHeadersAndNoRedirect(t *testing.T) {
	t.Parallel()
	var seen atomic.Value
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return newServer() }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/moved" {
			http.Redirect(w, q, "/", http.StatusTemporaryRedirect)
			return
		}
		seen.Store(q.Header.Get("Authorization"))
		handler.ServeHTTP(w, q)
	}))
	defer web.Close()
	headers := map[string]string{"Authorization": "Bearer t"}
	moved := Server{Name: "moved", URL: web.URL + "/moved?key=secret"}
	r := newRig(t, Server{Name: "web", URL: web.URL, Headers: headers}, moved)
	defer r.Close()
	if got, err := r.call(t.Context(), "mcp__web__echo", `{"text":"x"}`, nil); err != nil || got.Text != "echo x" {
		t.Errorf("%+v, %v", got, err)
	}
	if seen.Load() != "Bearer t" {
		t.Errorf("header %q", seen.Load())
	}
	if notices, _ := r.host.told(); len(notices) != 1 || !strings.Contains(notices[0], "redirects") ||
		strings.Contains(notices[0], "secret") {
		t.Errorf("notices %q", notices)
	}
}

// Answers without an end, of a wrong kind or none at all end the attempt. Close does not wait for
// them.
func TestHostileServersByHTTPAreBounded(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/endless", "/events":
			w.Header().Set("Content-Type", "application/json")
			if q.URL.Path == "/events" {
				w.Header().Set("Content-Type", "text/event-stream")
			}
			part := []byte("data: " + strings.Repeat("x", 64<<10))
			for {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		case "/html":
			_, _ = w.Write([]byte("<html>"))
		case "/hang":
			select {
			case <-q.Context().Done():
			case <-release:
			}
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer web.Close()
	defer close(release)
	var list []Server
	for _, name := range []string{"endless", "events", "hang", "html", "other"} {
		list = append(list, Server{Name: name, URL: web.URL + "/" + name, StartTimeout: 500 * time.Millisecond})
	}
	r := newRig(t, list...)
	notices, _ := r.host.told()
	slices.Sort(notices)
	if len(notices) != len(list) || r.names() != "" {
		t.Errorf("notices %q, tools %s", notices, r.names())
	}
	r.Close() // it waits for no answer of "hang", which comes after it
	for _, n := range notices {
		if len(n) > 600 {
			t.Errorf("a notice of %d bytes", len(n))
		}
	}
}

func TestNamesOfToolsAreValidAndDistinct(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"git hub", "x"},
		{"git.hub", "x"},
		{"s", strings.Repeat("x", 200)},
		{"s", strings.Repeat("x", 201)},
		{"", ""},
		{"ö", "ä"},
	} {
		name := toolName(c[0], c[1])
		if len(name) > maxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			t.Errorf("%q: %q", c, name)
		}
	}
	if toolName("git hub", "x") == toolName("git.hub", "x") {
		t.Error("two tools have one name")
	}
	if got := toolName("github", "create_issue"); got != "mcp__github__create_issue" {
		t.Error(got)
	}
}

// A connection that ends waits for running requests, and refuses later ones.
func TestAnEndedConnectionTakesNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnection(nil, Server{Name: "box"})
		c.session = new(sdk.ClientSession)
		_, end, err := c.begin()
		if err != nil {
			t.Fatal(err)
		}
		drained := make(chan struct{})
		go func() { c.drain(); close(drained) }()
		synctest.Wait()
		if _, _, err := c.begin(); err == nil {
			t.Error("a request begins on a connection that has ended")
		}
		select {
		case <-drained:
			t.Error("the connection did not wait for a request")
		default:
		}
		end()
		<-drained
	})
}
