package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agentctl/internal/fakeacp"
	"agentctl/protocol"
	"agentctl/server/session"
)

func TestMain(m *testing.M) {
	if fakeacp.Enabled() {
		os.Exit(fakeacp.Main())
	}
	goleak.VerifyTestMain(m)
}

// recorder is a session that keeps what its agent says, and decides as decide says.
type recorder struct {
	decide func(context.Context, protocol.Approval) (session.Verdict, error)

	mu     sync.Mutex
	events []session.Event
	asked  []protocol.Approval
	state  []byte
	groups []session.ProcessGroup
	logs   []string
	news   chan struct{} // one place: something was recorded
	block  chan struct{} // Emit waits for it, unless it is nil
}

func (r *recorder) Emit(e session.Event) error {
	if r.block != nil {
		<-r.block
	}
	if _, err := protocol.Encode(e.Data); err != nil {
		return err
	}
	r.note(func() { r.events = append(r.events, e) })
	return nil
}

func (r *recorder) Ask(ctx context.Context, a protocol.Approval) (session.Verdict, error) {
	r.note(func() { r.asked = append(r.asked, a) })
	return r.decide(ctx, a)
}

func (r *recorder) Save(state []byte) error {
	r.note(func() { r.state = state })
	return nil
}

func (r *recorder) RecordProcessGroup(g session.ProcessGroup) error {
	r.note(func() { r.groups = append(r.groups, g) })
	return nil
}

func (r *recorder) Logf(format string, args ...any) {
	r.note(func() { r.logs = append(r.logs, fmt.Sprintf(format, args...)) })
}

func (r *recorder) note(f func()) {
	r.mu.Lock()
	f()
	r.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default:
	}
}

// until waits until what was recorded makes ok true.
func (r *recorder) until(t *testing.T, what string, ok func() bool) {
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
		case <-r.news:
		case <-ctx.Done():
			t.Fatalf("never saw %s in\n%s", what, r.story())
		}
	}
}

// story writes the events one in a line, in as few words as they can be told apart by.
func (r *recorder) story() string {
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

func textOf(events []session.Event) string {
	var b strings.Builder
	for _, e := range events {
		if d, ok := e.Data.(protocol.PartDeltaData); ok && e.Type == protocol.TextDelta {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

// forget drops the events so far, those of the start for instance.
func (r *recorder) forget() {
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

func deny(context.Context, protocol.Approval) (session.Verdict, error) {
	return session.Verdict{Outcome: protocol.Denied, Decision: protocol.Deny}, nil
}

// rig is an agent with the fake program behind it.
type rig struct {
	*recorder
	*Agent
	t *testing.T
}

// launch makes an agent whose program has the given traits, and ends it with the test.
func launch(t *testing.T, traits string, change ...func(*Config, *session.Spec)) *rig {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{decide: deny, news: make(chan struct{}, 1)}
	config := Config{Name: "Fake", Command: []string{self}, EndGrace: 5 * time.Second}
	spec := session.Spec{Session: "ses", CWD: t.TempDir(), Env: map[string]string{
		fakeacp.EnvVar: traits, fakeacp.DirEnvVar: t.TempDir(),
		"GORACE": "atexit_sleep_ms=0", // of a race-enabled test binary that plays the agent
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
	return &rig{r, a, t}
}

// again is an agent as a restarted server makes it: the same session, what was saved, the same program.
func (r *rig) again(traits string) *rig {
	r.t.Helper()
	return launch(r.t, traits, func(_ *Config, s *session.Spec) {
		s.Env = maps.Clone(r.spec.Env)
		s.Env[fakeacp.EnvVar] = traits
		s.CWD = r.spec.CWD
		s.State = r.state
	})
}

// run runs a turn whose prompt has the given steps.
func (r *rig) run(steps ...string) session.End {
	r.t.Helper()
	end, err := r.try(r.t.Context(), steps...)
	if err != nil {
		r.t.Fatalf("%v, after\n%s", err, r.story())
	}
	return end
}

func (r *rig) try(ctx context.Context, steps ...string) (session.End, error) {
	return r.Run(ctx, session.Turn{ID: "turn", Message: protocol.Message{Text: strings.Join(steps, "\n")}}, r.recorder)
}

func (r *rig) wantText(want string) {
	r.t.Helper()
	if got := r.text(); got != want {
		r.t.Errorf("said %q, want %q", got, want)
	}
}

// wantStory compares everything but the usage, which every turn of the fake agent has.
func (r *rig) wantStory(want string) {
	r.t.Helper()
	var b strings.Builder
	for line := range strings.Lines(r.story()) {
		if !strings.HasPrefix(line, string(protocol.UsageUpdated)) {
			b.WriteString(line)
		}
	}
	if got := b.String(); got != strings.TrimLeft(want, "\n") {
		r.t.Errorf("got\n%s\nwant%s", got, want)
	}
}
