package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"agentctl/internal/dev/fakemodel"
	"agentctl/internal/dev/memory"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/provider"
)

func TestMain(m *testing.M) {
	memory.Use()
	goleak.VerifyTestMain(m)
}

const testKey = "sk-test-0123456789abcdef"

// apis are the four APIs, each with a name of a model that reasons.
var apis = []struct{ api, model string }{
	{provider.OpenAI, "gpt-5.5"},
	{provider.Anthropic, "claude-sonnet-5-5"},
	{provider.Google, "gemini-3-pro"},
	{provider.Chat, "qwen"},
}

// A recorder is a session that records events and decides with decide.
type recorder struct {
	decide func(ctx context.Context, a protocol.Approval) (agent.Verdict, error)
	onEmit func(e agent.Event) // after it was recorded

	transcript string // of the session

	mu     sync.Mutex
	events []agent.Event
	asked  []protocol.Approval
	state  []byte
	saves  int

	durable []byte // state as of the last Sync

	blobs map[string]agent.Blob

	checksFiles bool     // of saved states
	missing     []string // those without their blobs
	logs        []string
}

func (r *recorder) Emit(e agent.Event) error {
	r.mu.Lock()
	r.events = append(r.events, e)
	if e.Save != nil {
		r.save(e.Save)
	}
	r.mu.Unlock()
	if r.onEmit != nil {
		r.onEmit(e)
	}
	return nil
}

func (r *recorder) Ask(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
	r.mu.Lock()
	r.asked = append(r.asked, a)
	r.mu.Unlock()
	return r.decide(ctx, a)
}

func (r *recorder) Save(state []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.save(state)
	return nil
}

// save records a state. If the test checks files it also records those whose blobs are not stored: a server
// that dies now loses them. The lock is held.
func (r *recorder) save(state []byte) {
	r.state, r.saves = state, r.saves+1
	if !r.checksFiles {
		return
	}
	s, err := decodeState(state)
	if err != nil {
		r.missing = append(r.missing, err.Error())
	}
	s.editFiles(func(f *model.File) string {
		if _, ok := r.blobs[f.Blob]; f.Blob != "" && !ok {
			r.missing = append(r.missing, f.Name)
		}
		return ""
	})
}

func (r *recorder) Logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

func (r *recorder) RecordProcessGroup(agent.ProcessGroup) error { return nil }
func (r *recorder) SaveBlob(b agent.Blob) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blobs == nil {
		r.blobs = map[string]agent.Blob{}
	}
	r.blobs[b.ID] = b
	return nil
}

// Sync implements agent.Host.
func (r *recorder) Sync(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.durable = r.state
	return nil
}

func (r *recorder) Blob(_ context.Context, id string) (agent.Blob, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.blobs[id]
	if !ok {
		return b, protocol.Errorf(protocol.CodeNotFound, "no blob %s", id)
	}
	return b, nil
}

func (r *recorder) RecordConversation(string, string) error { return nil }

func (r *recorder) Transcript(context.Context, int) (string, error) { return r.transcript, nil }

// lines returns the events as text, one a line, without usage and options.
func (r *recorder) lines() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, e := range r.events {
		switch d := e.Data.(type) {
		case protocol.PartDeltaData:
			fmt.Fprintf(&b, "%s %s %q\n", e.Type, d.Part, d.Text)
		case protocol.PartStartData:
			fmt.Fprintf(&b, "%s %s\n", e.Type, d.Part)
		case protocol.PartEndData:
			fmt.Fprintf(&b, "%s %s\n", e.Type, d.Part)
		case protocol.ToolStartedData:
			fmt.Fprintf(&b, "%s %s %s %s\n", e.Type, d.Tool, d.Name, d.Title)
		case protocol.ToolInputData:
			fmt.Fprintf(&b, "%s %s %s\n", e.Type, d.Tool, d.Text)
		case protocol.ToolOutputData:
			fmt.Fprintf(&b, "%s %s %s\n", e.Type, d.Tool, d.Text)
		case protocol.ToolEndedData:
			fmt.Fprintf(&b, "%s %s %s %s\n", e.Type, d.Tool, d.Status, d.Error)
		case protocol.RetryData:
			fmt.Fprintf(&b, "%s %d/%d %s\n", e.Type, d.Attempt, d.Limit, d.Cause)
		case protocol.NoticeData:
			fmt.Fprintf(&b, "%s %s\n", e.Type, d.Message)
		}
	}
	return b.String()
}

// texts joins the text of the deltas by part, in the order of their start.
func (r *recorder) texts() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	index := map[string]int{}
	for _, e := range r.events {
		d, ok := e.Data.(protocol.PartDeltaData)
		if !ok || e.Type != protocol.TextDelta {
			continue
		}
		if _, ok := index[d.Part]; !ok {
			index[d.Part] = len(all)
			all = append(all, "")
		}
		all[index[d.Part]] += d.Text
	}
	return all
}

// results returns the status of each ended tool, in order.
func (r *recorder) results() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if d, ok := e.Data.(protocol.ToolEndedData); ok {
			all = append(all, string(d.Status))
		}
	}
	return all
}

func (r *recorder) retries() (all []protocol.RetryData) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if d, ok := e.Data.(protocol.RetryData); ok {
			all = append(all, d)
		}
	}
	return all
}

// everything returns everything that the session stores, with the state uncompressed.
func (r *recorder) everything(t *testing.T) string {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := decodeState(r.state)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal([]any{r.events, r.asked, r.logs, s})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A fakeTool is a tool of tests.
type fakeTool struct {
	name     string
	kind     string // empty: of a command
	parallel bool
	safe     bool
	confined bool // and contained
	run      func(ctx context.Context, c *ToolCall, out func(string)) (ToolResult, error)
}

// A toolMaker makes a tool of tests.
type toolMaker interface{ tool() Tool }

func (f *fakeTool) tool() Tool {
	return Tool{
		Name: f.name, Kind: cmp.Or(f.kind, protocol.ToolExecute), About: "a tool", Parallel: f.parallel,
		Schema:  json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`),
		Preview: f.preview,
	}
}

func (f *fakeTool) preview(_ context.Context, c *ToolCall) (Preview, error) {
	var in struct{ X string }
	if err := json.Unmarshal(c.Input, &in); err != nil || in.X == "" {
		return Preview{}, errors.New("x is missing")
	}
	return Preview{
		Title: f.name + " " + in.X, Safe: f.safe, Confined: f.confined, Contained: f.confined,
		Request: protocol.Approval{Kind: protocol.ApproveCommand, Command: in.X},
		Run: func(ctx context.Context, out func(string)) (ToolResult, error) {
			return f.run(ctx, c, out)
		},
	}, nil
}

// A fakeToolbox is the tools of a test. Sub-agents may share it.
type fakeToolbox struct {
	tools []toolMaker
	notes []Note

	mu       sync.Mutex
	closed   bool
	recalled []SeenFile
}

func (f *fakeToolbox) Recall(files []SeenFile) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recalled = files
}

func (f *fakeToolbox) Undo(string) (restored, kept []string, err error) { return nil, nil, nil }

func (f *fakeToolbox) Tools() (tools []Tool) {
	for _, t := range f.tools {
		tools = append(tools, t.tool())
	}
	return tools
}

func (f *fakeToolbox) Notes(int) []Note { return f.notes }

func (f *fakeToolbox) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

// A rig is an agent with a fake model and a recorder.
type rig struct {
	*recorder
	t     *testing.T
	fake  *fakemodel.Handler
	set   provider.Set
	opts  Options
	agent *Agent
	turns int
}

// newRig returns a rig. The options lack a model.
func newRig(t *testing.T, api, name string, script fakemodel.Script, tools ...toolMaker) *rig {
	t.Helper()
	r := &rig{t: t, recorder: &recorder{}, fake: fakemodel.New(script)}
	r.set = provider.Set{"test": {
		API: api, BaseURL: "https://model.example/v1", KeyEnv: "KEY",
		Models: map[string]provider.ModelConfig{name: {Window: 10_000, Price: &model.Price{Input: 1, Output: 2}}},
	}}
	r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
		return agent.Verdict{Outcome: protocol.Allowed, Decision: protocol.AllowOnce}, nil
	}
	r.opts = Options{
		Name: "coder", Config: Config{Model: "test/" + name, Models: []string{"test/other"}},
		Open: func(_ context.Context, text string) (model.Backend, error) {
			ref, err := r.set.Parse(text)
			if err != nil {
				return model.Backend{}, err
			}
			return r.set.Open(ref, &provider.Keys{Base: r.fake, Env: func(string) string { return testKey }})
		},
	}
	if tools != nil {
		r.opts.Toolbox = func(agent.Spec, agent.Host) (Toolbox, error) { return &fakeToolbox{tools: tools}, nil }
	}
	r.open(nil)
	return r
}

// open opens the agent, as after a restart with the state.
func (r *rig) open(state []byte) {
	r.t.Helper()
	a, err := New(r.opts, agent.Spec{Session: "s", CWD: "/work", State: state}, r.recorder)
	if err != nil {
		r.t.Fatal(err)
	}
	r.agent = a
}

// send runs a turn.
func (r *rig) send(ctx context.Context, text string) (agent.End, error) {
	r.turns++
	turn := agent.Turn{ID: fmt.Sprintf("t%d", r.turns), Message: protocol.Message{Text: text}}
	return r.agent.Run(ctx, turn, r.recorder)
}

// each runs a test in a bubble for each API.
func each(t *testing.T, test func(t *testing.T, api, name string)) {
	for _, a := range apis {
		t.Run(a.api, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, a.api, a.model) })
		})
	}
}
