package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agentctl/internal/dev/fakeacp"
	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestMain(m *testing.M) {
	if fakeacp.Enabled() {
		os.Exit(fakeacp.Main())
	}
	thorough.Parallel(8) // tests wait for processes
	goleak.VerifyTestMain(m)
}

// recorder is a session that records events and decides with decide.
type recorder struct {
	transcript string // of the session
	earlier    string // conversation before the session
	decide     func(context.Context, protocol.Approval) (agent.Verdict, error)

	mu      sync.Mutex
	events  []agent.Event
	asked   []protocol.Approval
	state   []byte
	groups  []agent.ProcessGroup
	logs    []string
	changed chan struct{} // capacity 1; signals a record
	block   chan struct{} // unless nil, Emit waits for it
}

func (r *recorder) Emit(e agent.Event) error {
	if r.block != nil {
		<-r.block
	}
	if _, err := protocol.Encode(e.Data); err != nil {
		return err
	}
	r.record(func() { r.events = append(r.events, e) })
	return nil
}

func (r *recorder) Ask(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
	r.record(func() { r.asked = append(r.asked, a) })
	return r.decide(ctx, a)
}

func (r *recorder) Save(state []byte) error {
	r.record(func() { r.state = state })
	return nil
}

func (r *recorder) Transcript(_ context.Context, most int) (string, error) {
	return r.transcript[max(0, len(r.transcript)-most):], nil
}

func (r *recorder) RecordProcessGroup(g agent.ProcessGroup) error {
	r.record(func() { r.groups = append(r.groups, g) })
	return nil
}

func (r *recorder) SaveBlob(agent.Blob) error                        { return nil }
func (r *recorder) Sync(context.Context) error                       { return nil }
func (r *recorder) Blob(context.Context, string) (agent.Blob, error) { return agent.Blob{}, nil }

func (r *recorder) RecordConversation(message, text string) error {
	r.record(func() { r.earlier += message + "\n" + text })
	return nil
}

func (r *recorder) Logf(format string, args ...any) {
	r.record(func() { r.logs = append(r.logs, fmt.Sprintf(format, args...)) })
}

func (r *recorder) record(f func()) {
	r.mu.Lock()
	f()
	r.mu.Unlock()
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// waitFor waits until ok, called under the lock, returns true.
func (r *recorder) waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		r.mu.Lock()
		done := ok()
		r.mu.Unlock()
		if done {
			return
		}
		select {
		case <-r.changed:
		case <-ctx.Done():
			t.Fatalf("no %s in\n%s", what, r.eventLines())
		}
	}
}

// eventLines returns the events as text, one per line, without durations.
func (r *recorder) eventLines() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, e := range r.events {
		data, _ := protocol.Encode(e.Data)
		fields := map[string]any{}
		_ = json.Unmarshal(data, &fields)
		delete(fields, "duration_ms")
		data, _ = protocol.Encode(fields)
		fmt.Fprintf(&b, "%s %s\n", e.Type, data)
	}
	return b.String()
}

// text joins the text of all deltas.
func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return textOf(r.events)
}

func textOf(events []agent.Event) string {
	var b strings.Builder
	for _, e := range events {
		if d, ok := e.Data.(protocol.PartDeltaData); ok && e.Type == protocol.TextDelta {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

// clear drops the events recorded so far.
func (r *recorder) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}

func (r *recorder) data(kind protocol.Type) []any {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []any
	for _, e := range r.events {
		if e.Type == kind {
			out = append(out, e.Data)
		}
	}
	return out
}

func deny(context.Context, protocol.Approval) (agent.Verdict, error) {
	return agent.Verdict{Outcome: protocol.Denied, Decision: protocol.Deny}, nil
}

// testAgent is an agent with fakeacp as its program.
type testAgent struct {
	*recorder
	*Agent
	t *testing.T
}

// connected makes the program of a test agent a goroutine of the test, which takes a tenth of the time of a
// process.
func connected(c *Config, s *agent.Spec) {
	c.Dial = func(context.Context) (io.ReadWriteCloser, error) {
		return fakeacp.Connect(s.Env[fakeacp.EnvVar], s.Env[fakeacp.DirEnvVar])
	}
}

// newTestAgent returns an agent whose program has the given traits. The test closes it.
func newTestAgent(t *testing.T, traits string, change ...func(*Config, *agent.Spec)) *testAgent {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{decide: deny, changed: make(chan struct{}, 1)}
	config := Config{Name: "Fake", Command: []string{self}, EndGrace: 5 * time.Second}
	spec := agent.Spec{Session: "ses", CWD: t.TempDir(), Env: map[string]string{
		fakeacp.EnvVar: traits, fakeacp.DirEnvVar: t.TempDir(),
		"GORACE": "atexit_sleep_ms=0", // for a test binary with -race
	}}
	for _, f := range change {
		f(&config, &spec)
	}
	a, err := New(config, spec, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		started, ended := 0, 0
		for _, g := range r.groups {
			if g.Ended {
				ended++
			} else {
				started++
			}
		}
		if started != ended {
			t.Errorf("%d process groups started and %d ended", started, ended)
		}
	})
	return &testAgent{r, a, t}
}

// restart returns an agent as after a restart of the server: same session, saved state and program.
func (r *testAgent) restart(traits string) *testAgent {
	r.t.Helper()
	return newTestAgent(r.t, traits, func(c *Config, s *agent.Spec) {
		if r.config.Dial != nil {
			connected(c, s)
		}
		s.Env = maps.Clone(r.spec.Env)
		s.Env[fakeacp.EnvVar] = traits
		s.CWD = r.spec.CWD
		s.State = r.state
	})
}

// run runs a turn with the given prompt steps.
func (r *testAgent) run(steps ...string) agent.End {
	r.t.Helper()
	end, err := r.tryRun(r.t.Context(), steps...)
	if err != nil {
		r.t.Fatalf("%v, after\n%s", err, r.eventLines())
	}
	return end
}

func (r *testAgent) tryRun(ctx context.Context, steps ...string) (agent.End, error) {
	return r.Run(ctx, agent.Turn{ID: "turn", Message: protocol.Message{Text: strings.Join(steps, "\n")}}, r.recorder)
}

func (r *testAgent) wantText(want string) {
	r.t.Helper()
	if got := r.text(); got != want {
		r.t.Errorf("text %q, want %q", got, want)
	}
}

// wantEvents compares all events except usage.updated, which every turn of fakeacp emits.
func (r *testAgent) wantEvents(want string) {
	r.t.Helper()
	var b strings.Builder
	for line := range strings.Lines(r.eventLines()) {
		if !strings.HasPrefix(line, string(protocol.UsageUpdated)) {
			b.WriteString(line)
		}
	}
	if got := b.String(); got != strings.TrimLeft(want, "\n") {
		r.t.Errorf("got\n%s\nwant%s", got, want)
	}
}
