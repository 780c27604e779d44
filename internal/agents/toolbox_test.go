package agents

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/llm/provider"
)

// toolHost is the host and the output of an agent with tools. It allows all requests.
type toolHost struct {
	turnHost

	mu      sync.Mutex
	asked   []protocol.Approval
	options protocol.Options
	notices []string
}

func (h *toolHost) Emit(e agent.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch d := e.Data.(type) {
	case protocol.Options:
		h.options = d
	case protocol.NoticeData:
		h.notices = append(h.notices, d.Message)
	}
	return nil
}

func (h *toolHost) Ask(_ context.Context, a protocol.Approval) (agent.Verdict, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, a)
	return agent.Verdict{Outcome: protocol.Allowed, Decision: protocol.AllowOnce}, nil
}

// One configuration of MCP servers is for all agents. The model calls their tools as any other,
// after users saw the server, the tool and the whole input, and users have their prompts.
func TestAModelCallsToolsOfMCPServers(t *testing.T) {
	noKeys(t)
	notes := sdk.NewServer(&sdk.Implementation{Name: "notes"}, nil)
	type text struct {
		Text string `json:"text"`
	}
	sdk.AddTool(notes, &sdk.Tool{Name: "add"},
		func(_ context.Context, _ *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "added " + in.Text}}}, nil, nil
		})
	notes.AddPrompt(&sdk.Prompt{Name: "tidy"},
		func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			message := &sdk.PromptMessage{Role: "user", Content: &sdk.TextContent{Text: "tidy my notes"}}
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{message}}, nil
		})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return notes }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Authorization") != "Bearer t-1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, q)
	}))
	defer web.Close()
	fake := fakemodel.New(fakemodel.Turns(
		func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
			if !strings.HasSuffix(r.LastUser(), "tidy my notes") {
				t.Errorf("the model got %q", r.LastUser())
			}
			if r.Offers("mcp__off__add") || !r.Offers("mcp__notes__add") || !r.Offers("shell") {
				t.Errorf("tools: %s", r.Body)
			}
			out.Call("mcp__notes__add", map[string]string{"text": "milk"})
		},
		fakemodel.Say("done")))
	provided := httptest.NewServer(fake)
	defer provided.Close()
	server := func(headers map[string]string, agents ...string) MCPServer {
		return MCPServer{MCPServer: acp.MCPServer{URL: web.URL, Headers: headers}, Agents: agents}
	}
	r := &Registry{
		Providers: Providers{
			"mine": {API: provider.Chat, BaseURL: provided.URL + "/v1", KeyCommand: []string{"echo", "k"}},
		},
		Configured: map[string]Config{
			"coder": {Config: llm.Config{Model: "mine/m"}, Env: map[string]string{"TOKEN": "t-1"}},
		},
		MCP: map[string]MCPServer{
			"notes": server(map[string]string{"Authorization": "Bearer ${TOKEN}"}),
			"off":   server(nil, "claude"),
			"unset": server(map[string]string{"Authorization": "Bearer ${NOT_SET}"}),
		},
	}
	host := &toolHost{}
	a, err := r.Open(agent.Spec{Agent: "coder", Session: "s", CWD: t.TempDir()}, host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	turn := agent.Turn{ID: "t", Message: protocol.Message{Text: "/mcp__notes__tidy"}}
	end, err := a.Run(t.Context(), turn, host)
	if err != nil || end.Reason != protocol.ReasonCompleted {
		t.Fatalf("%+v, %v", end, err)
	}
	host.mu.Lock()
	defer host.mu.Unlock()
	if len(host.asked) != 1 {
		t.Fatalf("asked %+v", host.asked)
	}
	q := host.asked[0]
	var input text
	if err := json.Unmarshal(q.Input, &input); err != nil || input.Text != "milk" || q.Name != "mcp__notes__add" ||
		!strings.Contains(q.Title, "MCP server notes") || q.Kind != protocol.ApproveTool {
		t.Errorf("%+v, %v", q, err)
	}
	if result, _ := fake.Requests()[1].ToolResult(); result != "added milk" {
		t.Errorf("the model got %q", result)
	}
	if c := host.options.Commands; len(c) != 1 || c[0].Name != "mcp__notes__tidy" {
		t.Errorf("commands %+v", c)
	}
	if len(host.notices) != 1 || !strings.Contains(host.notices[0], "${NOT_SET} is not set") {
		t.Errorf("notices %q", host.notices)
	}
}

// A message mentions resources: the model gets their content. A message of an agent mentions none.
func TestAModelGetsTheResourcesThatAMessageMentions(t *testing.T) {
	noKeys(t)
	notes := sdk.NewServer(&sdk.Implementation{Name: "notes"}, nil)
	notes.AddResource(&sdk.Resource{URI: "note://1", Name: "note"},
		func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			content := &sdk.ResourceContents{URI: r.Params.URI, Text: "the rare word"}
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{content}}, nil
		})
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return notes }, nil))
	defer server.Close()
	fake := fakemodel.New(fakemodel.Say("ok"))
	provided := httptest.NewServer(fake)
	defer provided.Close()
	t.Setenv("MODEL_KEY", "k")
	r := &Registry{
		Providers:  Providers{"fake": {API: provider.Chat, BaseURL: provided.URL + "/v1", KeyEnv: "MODEL_KEY"}},
		Configured: map[string]Config{"coder": {Config: llm.Config{Model: "fake/m"}}},
		MCP:        map[string]MCPServer{"notes": {MCPServer: acp.MCPServer{URL: server.URL}}},
	}
	host := &toolHost{}
	spec := agent.Spec{Session: "s", Agent: "coder", CWD: t.TempDir()}
	opened, err := r.Open(spec, host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	const rare = "the rare word"
	for i, c := range []struct {
		text string
		by   *protocol.Actor
		want string
	}{
		{"from an agent: @notes:note://1", new(protocol.AgentActor("other", "")), ""},
		{"mail me@notes:note://1 or @other:note://1", nil, ""},
		{"see (@notes:note://1).", nil, rare},
		{"and @notes:note://2", nil, "was not read"},
	} {
		turn := agent.Turn{ID: strconv.Itoa(i), Message: protocol.Message{Text: c.text, By: c.by}}
		if _, err := opened.Run(t.Context(), turn, host); err != nil {
			t.Fatal(err)
		}
		requests := fake.Requests()
		body := string(requests[len(requests)-1].Body)
		if c.want != "" && !strings.Contains(body, c.want) || c.want == "" && strings.Contains(body, rare) {
			t.Errorf("%s: the model got %s", c.text, body)
		}
	}
	if len(host.options.Resources) != 1 || host.options.Resources[0].Name != "notes:note://1" {
		t.Errorf("got resources %+v", host.options.Resources)
	}
	if len(host.notices) != 1 || !strings.HasPrefix(host.notices[0], "@notes:note://2 was not read: ") {
		t.Errorf("notices %q", host.notices)
	}
}

// The tools know the directories of the server: no policy changes files in them.
func TestToolsOfAModelProtectFilesOfAgentctl(t *testing.T) {
	dir := t.TempDir()
	r := &Registry{}
	box, err := r.openToolbox(LLM, agent.Spec{Session: "s", CWD: dir, OwnDirectories: []string{
		filepath.Join(dir, "data"),
	}}, &toolHost{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = box.Close() }()
	write := box.Tools()[slices.IndexFunc(box.Tools(), func(t llm.Tool) bool { return t.Name == "write" })]
	for path, contained := range map[string]bool{"a": true, "data/config.json": false, ".git/config": false} {
		input := protocol.MustEncode(map[string]string{"path": path, "content": "x"})
		p, err := write.Preview(t.Context(), &llm.ToolCall{Input: input})
		if internal := strings.HasPrefix(path, "data/"); (err != nil) != internal || p.Contained != contained {
			t.Errorf("%s: contained %t, %v", path, p.Contained, err)
		}
	}
}
