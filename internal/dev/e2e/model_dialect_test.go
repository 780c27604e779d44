package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	registry "agentctl/internal/agents"
	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/llm/provider"
	"agentctl/server/session"
)

// newModelServer starts a server whose default agent requests a model that answers with a script.
func newModelServer(t *testing.T, answer fakemodel.Script) *testServer {
	t.Helper()
	model := httptest.NewServer(fakemodel.New(answer))
	t.Cleanup(func() { model.CloseClientConnections(); model.Close() })
	t.Setenv("MODEL_KEY", "key")
	of := &registry.Registry{
		Providers: registry.Providers{"fake": {
			API: provider.Chat, BaseURL: model.URL + "/v1", KeyEnv: "MODEL_KEY",
			Models: map[string]provider.ModelConfig{"m": {Window: 100_000}},
		}},
		Configured: map[string]registry.Config{"main": {Config: llm.Config{Model: "fake/m"}}},
	}
	if err := of.CheckConfigured(); err != nil {
		t.Fatal(err)
	}
	w := &testServer{t: t, dir: t.TempDir()}
	server, err := serve(w.dir, of, func(s session.Store) session.Store { return s })
	if err != nil {
		t.Fatal(err)
	}
	w.server.Store(server)
	t.Cleanup(w.stop)
	return w
}

// results returns the results of calls in a request of the agent.
func results(r fakemodel.Request) (list []string) {
	for _, m := range r.Messages {
		if m.Role == fakemodel.Tool {
			list = append(list, m.Text)
		}
	}
	return list
}

// An agentLoopConn is a connection of an AgentLoop client that writes messages by hand.
type agentLoopConn struct {
	*dialectConn
	last int
	seen []string // messages in short, without context_info
}

// An agentLoopFrame holds the fields of a message that the document describes.
type agentLoopFrame struct {
	ID      string
	Type    string
	Payload struct {
		Type, Role, Name, Arguments, Output string
		CallID                              string `json:"call_id"`
		Content                             []struct{ Type, Text string }
		Loading                             *bool
		ResponseID                          *string
		Command                             []string
		ApplyPatch                          *struct{ Patch string }
		TokenCount, UsagePercent, MaxTokens *float64
		TranscriptLength                    *float64
		Strategy                            string
		Message                             string
	}
}

// String returns the frame in short: all that the document describes except ids and times.
func (f *agentLoopFrame) String() string {
	p := &f.Payload
	switch f.Type {
	case "loading_state":
		return fmt.Sprint("loading ", p.Loading != nil && *p.Loading)
	case "approval_request":
		line := "approve " + strings.Join(p.Command, " ")
		if p.ApplyPatch != nil {
			line = "approve " + p.Command[0] + " with patch"
		}
		return line
	case "response_item":
		switch p.Type {
		case "message":
			return p.Role + ": " + p.Content[0].Text
		case "function_call":
			return "call " + p.Name
		case "function_call_output":
			var out struct {
				Output   string
				Metadata struct {
					ExitCode *int `json:"exit_code"`
				}
			}
			if json.Unmarshal([]byte(p.Output), &out) != nil {
				return "output: " + p.Output
			}
			if out.Metadata.ExitCode != nil {
				return fmt.Sprint("output, exit code ", *out.Metadata.ExitCode)
			}
			lines := strings.Split(strings.TrimSpace(out.Output), "\n")
			return "output: " + lines[len(lines)-1]
		}
		return p.Type
	}
	return f.Type
}

// until reads up to the first frame that starts so in short.
func (c *agentLoopConn) until(start string) (f agentLoopFrame) {
	c.t.Helper()
	for {
		f = agentLoopFrame{}
		data := c.read()
		if err := json.Unmarshal(data, &f); err != nil || f.ID == "" {
			c.t.Fatalf("%v: %s", err, data)
		}
		short := f.String()
		if f.Type != "context_info" { // comes at any time
			c.seen = append(c.seen, short)
		}
		if strings.HasPrefix(short, start) {
			return f
		}
	}
}

func (c *agentLoopConn) send(kind string, payload any) {
	c.t.Helper()
	c.last++
	message := map[string]any{"id": fmt.Sprint("c", c.last), "type": kind, "payload": payload}
	c.mustWrite(string(protocol.MustEncode(message)))
}

const (
	sentPatch   = "*** Begin Patch\n*** Update File: app.ts\n@@\n import a\n+import b\n const x\n*** End Patch"
	editedPatch = "*** Begin Patch\n*** Update File: app.ts\n@@\n import a\n+import c\n const x\n*** End Patch"
)

// The messages and sequences of the document of AgentLoop, with the agent of a model: a command
// that is explained and approved, a patch that is edited, a command that is denied with a reason.
func TestAnAgentLoopClientDrivesTheAgentOfAModel(t *testing.T) {
	w := newModelServer(t, func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
		done := results(r)
		switch {
		case strings.Contains(r.LastUser(), "explain it"):
			out.Text("It deletes the directory build.")
		case len(done) == 0:
			out.Text("I clean up.")
			out.Call("shell", map[string]string{"command": "rm -rf build"})
		case len(done) == 1:
			out.Call("apply_patch", map[string]string{"patch": sentPatch})
		case len(done) == 2:
			out.Call("shell", map[string]string{"command": "touch denied"})
		default:
			out.Text("Last result: " + done[2])
		}
	})
	work := t.TempDir()
	if err := os.Mkdir(filepath.Join(work, "build"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(work, "app.ts")
	if err := os.WriteFile(file, []byte("import a\nconst x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ann := w.client("ann")
	do[protocol.CreateResult](t, ann, protocol.DoCreate, "", protocol.CreateData{Name: "loop", CWD: work})
	c := &agentLoopConn{dialectConn: dialDialect(t, "ws://server/dialect/agentloop/loop", w.dial)}
	c.send("user_input", map[string]any{"input": []any{map[string]any{
		"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": "clean up"}},
	}}})
	first := c.until("approve rm")
	if !slices.Equal(first.Payload.Command, []string{"rm", "-rf", "build"}) || first.Payload.ApplyPatch != nil {
		t.Errorf("request %+v", first.Payload)
	}
	c.send("approval_response", map[string]any{"review": "explain"})
	if again := c.until("approve rm"); again.ID == first.ID {
		t.Error("the request has the same envelope again")
	}
	if _, err := os.Stat(filepath.Join(work, "build")); err != nil {
		t.Errorf("before the approval: %v", err)
	}
	c.send("approval_response", map[string]any{"review": "yes", "customDenyMessage": nil})
	request := c.until("approve apply_patch")
	if p := request.Payload.ApplyPatch; p == nil || p.Patch != sentPatch ||
		!slices.Equal(request.Payload.Command, []string{"apply_patch", sentPatch}) {
		t.Errorf("request %+v", request.Payload)
	}
	c.send("approval_response", map[string]any{
		"review": "yes", "applyPatch": map[string]any{"patch": editedPatch},
	})
	c.until("approve touch")
	if text, _ := os.ReadFile(file); string(text) != "import a\nimport c\nconst x\n" {
		t.Errorf("the file is %q", text)
	}
	c.send("approval_response", map[string]any{"review": "no-continue", "customDenyMessage": "not that file"})
	c.until("loading false")
	if end := c.until("agent_finished"); end.Payload.ResponseID == nil {
		t.Errorf("end %+v", end)
	}
	said := c.seen[len(c.seen)-3]
	if !strings.HasPrefix(said, "assistant: Last result: ") || !strings.Contains(said, "not that file") {
		t.Errorf("the model got %q", said)
	}
	c.seen[len(c.seen)-3] = "assistant"
	// A call is shown when it runs, or earlier if its request takes a while to come.
	seen := slices.DeleteFunc(slices.Clone(c.seen), func(frame string) bool { return frame == "call shell" })
	if calls := len(c.seen) - len(seen); calls != 2 {
		t.Errorf("%d calls of the shell", calls)
	}
	want := []string{
		"loading true", "user: clean up", "assistant: I clean up.", "approve rm -rf build",
		"assistant: It deletes the directory build.", "approve rm -rf build", "output, exit code 0",
		"approve apply_patch with patch", "call apply_patch", "output, exit code 0",
		"approve touch denied", "output: aborted", "assistant", "loading false", "agent_finished",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("frames\n%s\nwant\n%s", strings.Join(c.seen, "\n"), strings.Join(want, "\n"))
	}
	if _, err := os.Stat(filepath.Join(work, "build")); !os.IsNotExist(err) {
		t.Errorf("after the approval: %v", err)
	}
	if _, err := os.Stat(filepath.Join(work, "denied")); !os.IsNotExist(err) {
		t.Errorf("the denied command ran: %v", err)
	}
	c.send("get_context_info", map[string]any{})
	p := c.until("context_info").Payload
	if p.TokenCount == nil || *p.TokenCount <= 0 || p.UsagePercent == nil || p.TranscriptLength == nil ||
		p.MaxTokens == nil || *p.MaxTokens != 100_000 || p.Strategy == "" {
		t.Errorf("context %+v", p)
	}
}
