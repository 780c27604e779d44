package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm"
)

// modeVariable makes the test binary a server.
const modeVariable = "AGENTCTL_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVariable); mode != "" {
		serveMode(mode)
		return
	}
	thorough.Parallel(8) // tests wait for processes
	goleak.VerifyTestMain(m)
}

// pixel is an image.
var pixel = []byte("\x89PNG\r\n\x1a\n....")

// serveMode is a server on standard input and output.
func serveMode(mode string) {
	ctx := context.Background()
	switch mode {
	case "hang": // reads nothing, answers nothing
		time.Sleep(time.Hour)
	case "noise": // prints lines that are not messages, until its input ends
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
		for {
			if _, err := fmt.Println("rubbish"); err != nil {
				return
			}
		}
	case "exit":
		fmt.Fprintln(os.Stderr, "first line\nno licence found")
		os.Exit(3)
	case "silent-discover": // does not answer a request that it does not know
		serveFiltered(ctx, func(line string) bool { return !strings.Contains(line, "server/discover") })
	case "deaf": // reads nothing after the first call
		serveFiltered(ctx, func(line string) bool {
			if strings.Contains(line, "tools/call") {
				time.Sleep(time.Hour)
			}
			return true
		})
	case "child":
		c := exec.Command("sleep", "1000")
		if err := c.Start(); err != nil {
			panic(err)
		}
		if err := os.Setenv("CHILD", strconv.Itoa(c.Process.Pid)); err != nil {
			panic(err)
		}
		_ = newServer().Run(ctx, &sdk.StdioTransport{})
	case "many":
		serveMany()
	case "nulls":
		answerRaw(map[string]string{
			"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},` +
				`"serverInfo":{"name":"nulls","version":"1"}}`,
			"tools/list": `{"tools":[null]}`, "prompts/list": `{"prompts":[null]}`, "resources/list": `{"resources":[null]}`,
			"resources/templates/list": `{"resourceTemplates":[null]}`, "resources/read": `{"contents":[null]}`,
		})
	default:
		fmt.Println("a program that prints its name first\n\n[INFO] {not JSON}\n{not JSON}\n[1, 2]\n{\"level\":\"info\"}\n[]")
		_ = newServer().Run(ctx, &sdk.StdioTransport{})
	}
}

// serveFiltered gets only the messages that pass.
func serveFiltered(ctx context.Context, passes func(line string) bool) {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			if passes(lines.Text()) {
				fmt.Fprintln(w, lines.Text())
			}
		}
		w.Close()
	}()
	_ = newServer().Run(ctx, &sdk.IOTransport{Reader: r, Writer: os.Stdout})
}

// newServer returns a server with tools of every kind.
func newServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test"}, &sdk.ServerOptions{PageSize: 3})
	type text struct {
		Text string `json:"text"`
	}
	add := func(name string, run func(context.Context, *sdk.CallToolRequest, string) (*sdk.CallToolResult, error)) {
		sdk.AddTool(s, &sdk.Tool{
			Name: name, Description: "about " + name, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: name == "echo"},
		}, func(ctx context.Context, r *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
			result, err := run(ctx, r, in.Text)
			return result, nil, err
		})
	}
	say := func(text string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	}
	add("echo", func(_ context.Context, _ *sdk.CallToolRequest, text string) (*sdk.CallToolResult, error) {
		return say("echo " + text), nil
	})
	add("env", func(_ context.Context, _ *sdk.CallToolRequest, name string) (*sdk.CallToolResult, error) {
		return say(os.Getenv(name)), nil
	})
	add("fail", func(context.Context, *sdk.CallToolRequest, string) (*sdk.CallToolResult, error) {
		return nil, errors.New("it failed")
	})
	add("image", func(context.Context, *sdk.CallToolRequest, string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.ImageContent{MIMEType: "image/png", Data: pixel},
			&sdk.ImageContent{MIMEType: "image/tiff", Data: pixel},
			&sdk.ResourceLink{URI: "file:///a", Name: "a"},
		}}, nil
	})
	add("structured", func(context.Context, *sdk.CallToolRequest, string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{StructuredContent: map[string]int{"n": 1}, Content: []sdk.Content{}}, nil
	})
	add("large", func(context.Context, *sdk.CallToolRequest, string) (*sdk.CallToolResult, error) {
		return say(strings.Repeat("0123456789", 100_000)), nil
	})
	add("huge", func(context.Context, *sdk.CallToolRequest, string) (*sdk.CallToolResult, error) {
		return say(strings.Repeat("0123456789", 1_750_000)), nil
	})
	add("die", func(context.Context, *sdk.CallToolRequest, string) (*sdk.CallToolResult, error) {
		os.Exit(4)
		return nil, nil
	})
	add("wait", func(ctx context.Context, r *sdk.CallToolRequest, _ string) (*sdk.CallToolResult, error) {
		_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: r.Params.GetProgressToken(), Progress: 1, Total: 2, Message: "half",
		})
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("ask", func(_ context.Context, r *sdk.CallToolRequest, schema string) (*sdk.CallToolResult, error) {
		if answer, ok := r.Params.InputResponses["q"].(*sdk.ElicitResult); ok {
			b, err := json.Marshal(answer.Content)
			return say(answer.Action + " " + string(b)), err
		}
		ask := &sdk.ElicitParams{Mode: "form", Message: "Where to?", RequestedSchema: json.RawMessage(schema)}
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"q": ask}}, nil
	})
	add("sample", func(context.Context, *sdk.CallToolRequest, string) (*sdk.CallToolResult, error) {
		ask := &sdk.CreateMessageParams{MaxTokens: 1} //nolint:staticcheck // deprecated, but still sent
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"q": ask}}, nil
	})
	add("grow", func(context.Context, *sdk.CallToolRequest, string) (*sdk.CallToolResult, error) {
		add("grown", func(context.Context, *sdk.CallToolRequest, string) (*sdk.CallToolResult, error) {
			return say("grown"), nil
		})
		return say("done"), nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "review", Description: "reviews a file", Arguments: []*sdk.PromptArgument{
		{Name: "file", Required: true}, {Name: "focus"},
	}}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		text := fmt.Sprintf("review %s for %s", r.Params.Arguments["file"], r.Params.Arguments["focus"])
		message := &sdk.PromptMessage{Role: "user", Content: &sdk.TextContent{Text: text}}
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{message}}, nil
	})
	s.AddResource(&sdk.Resource{URI: "note://1", Name: "note", MIMEType: "text/plain"},
		func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: "a note"}}}, nil
		})
	return s
}

// serveMany offers 5,000 tools in one page, two of them invalid for agentctl.
func serveMany() {
	var tools strings.Builder
	long := strings.Repeat("x", maxSchema)
	fmt.Fprintf(&tools, `{"name":"a.big","inputSchema":{"type":"object","description":"%s"}}`, long)
	fmt.Fprint(&tools, `,{"name":"none","inputSchema":{"type":"array"}}`)
	fmt.Fprintf(&tools, `,{"name":"a.long%s","inputSchema":{"type":"object"}}`, strings.Repeat("n", 100))
	for i := range 5_000 {
		fmt.Fprintf(&tools, `,{"name":"tool%d","inputSchema":{"type":"object"}}`, i)
	}
	answerRaw(map[string]string{
		"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},` +
			`"serverInfo":{"name":"many","version":"1"}}`,
		"tools/list": `{"tools":[` + tools.String() + `]}`,
	})
}

// answerRaw answers requests with results by their methods.
func answerRaw(results map[string]string) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var r struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(lines.Bytes(), &r) != nil || r.ID == nil {
			continue
		}
		answer := `"error":{"code":-32601,"message":"unknown"}`
		if result := results[r.Method]; result != "" {
			answer = `"result":` + result
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", r.ID, answer)
	}
}

// A host records what the tools report to the session.
type host struct {
	agent.Host

	mu      sync.Mutex
	notices []string
	logs    []string
	running map[int]bool
}

func (h *host) Emit(e agent.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d, ok := e.Data.(protocol.NoticeData); ok {
		h.notices = append(h.notices, d.Message)
	}
	return nil
}

func (h *host) Logf(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.logs = append(h.logs, fmt.Sprintf(format, args...))
}

func (h *host) RecordProcessGroup(g agent.ProcessGroup) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running == nil {
		h.running = map[int]bool{}
	}
	if delete(h.running, g.PID); !g.Ended {
		h.running[g.PID] = true
	}
	return nil
}

func (h *host) told() (notices, logs []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.notices...), append([]string(nil), h.logs...)
}

// A rig is the tools of servers.
type rig struct {
	*Toolbox
	t    *testing.T
	host *host
}

// program returns a server that is the test binary in a mode.
func program(t *testing.T, name, mode string) Server {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Server{Name: name, Command: []string{exe}, Env: append(os.Environ(), modeVariable+"="+mode)}
}

// newRig opens the tools and waits until the servers have connected or failed.
func newRig(t *testing.T, servers ...Server) *rig {
	t.Helper()
	r := &rig{t: t, host: &host{}}
	r.Toolbox = Open(Options{Servers: servers, Session: "s", CWD: t.TempDir(), Host: r.host})
	t.Cleanup(func() {
		r.Close()
		if len(r.host.running) > 0 {
			t.Errorf("programs are not ended: %v", r.host.running)
		}
	})
	r.prepare()
	return r
}

func (r *rig) prepare() {
	r.t.Helper()
	if err := r.Prepare(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// names returns the names of the tools.
func (r *rig) names() string {
	var names []string
	for _, t := range r.Tools() {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

func (r *rig) tool(name string) llm.Tool {
	r.t.Helper()
	for _, t := range r.Tools() {
		if t.Name == name {
			return t
		}
	}
	r.t.Fatalf("no tool %s: %s", name, r.names())
	return llm.Tool{}
}

// call runs a tool.
func (r *rig) call(ctx context.Context, name, input string, out func(string)) (llm.ToolResult, error) {
	r.t.Helper()
	return r.callAsking(ctx, name, input, out, nil)
}

// callAsking runs a tool that may ask users.
func (r *rig) callAsking(
	ctx context.Context, name, input string, out func(string), ask llm.Asker,
) (llm.ToolResult, error) {
	r.t.Helper()
	if out == nil {
		out = func(string) {}
	}
	t, c := r.tool(name), &llm.ToolCall{Input: json.RawMessage(input), Asking: ask}
	p, err := t.Preview(ctx, c)
	if err != nil {
		return llm.ToolResult{}, err
	}
	return p.Run(ctx, out)
}

// connected returns an error if a request to a server would be refused.
func (r *rig) connected(server int) error {
	_, end, err := r.connections[server].begin()
	if err == nil {
		end()
	}
	return err
}

// until waits for a condition that another process makes true.
func (r *rig) until(what string, holds func() bool) {
	r.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(2 * time.Minute)
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			notices, logs := r.host.told()
			r.t.Fatalf("not %s\nnotices %q\nlogs %q", what, notices, logs)
		}
	}
}

// alive reports whether a process runs. A zombie does not.
func alive(pid string) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}
