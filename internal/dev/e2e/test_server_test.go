package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"agentctl/internal/dev/fakeacp"
	"agentctl/internal/dev/memory"
	"agentctl/internal/dev/testbinary"
	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/script"
	"agentctl/server/session"
	"agentctl/wsclient"
)

func TestMain(m *testing.M) {
	if fakeacp.Enabled() {
		os.Exit(fakeacp.Main())
	}
	thorough.Checks(8, 30) // each runs a whole session
	memory.Use()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(programDir)
		os.Exit(code)
	}))
}

// programDir holds the program that buildProgram built, or is empty.
var programDir string

// buildProgram builds agentctl once for all tests.
var buildProgram = sync.OnceValues(func() (path string, err error) {
	if programDir, err = os.MkdirTemp("", "agentctl-e2e"); err != nil {
		return "", err
	}
	return testbinary.Build(programDir)
})

// tb is a *testing.T, *testing.B or *rapid.T.
type tb interface {
	rapid.TB
	Context() context.Context
}

// agents holds script agents by name.
type agents struct {
	mu      sync.Mutex
	scripts map[string]*script.Script
	hosts   map[string]agent.Host // of the agents that were opened, by session
}

// host returns the host of a session's agent.
func (a *agents) host(session string) agent.WorkHost {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.hosts[session].(agent.WorkHost)
}

// add parses the lines of an agent's script.
func (a *agents) add(t tb, name string, lines ...string) *script.Script {
	t.Helper()
	s, err := script.Parse(name, strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.scripts[name] = s
	return s
}

func (a *agents) Open(spec agent.Spec, host agent.Host) (agent.Agent, error) {
	a.mu.Lock()
	s := a.scripts[spec.Agent]
	if a.hosts == nil {
		a.hosts = map[string]agent.Host{}
	}
	a.hosts[spec.Session] = host
	a.mu.Unlock()
	if s == nil {
		return nil, protocol.Errorf(protocol.CodeNoAgent, "there is no agent %q", spec.Agent)
	}
	return s.Open(spec, host)
}

func (a *agents) Names() []string { return []string{"main"} }

// A testServer is a server that ends with the test.
type testServer struct {
	t      testing.TB
	dir    string
	script *script.Script // script of the default agent
	agents *agents
	wrap   func(session.Store) session.Store
	server atomic.Pointer[runningServer]
}

// newTestServer starts a server whose default agent runs the script lines.
func newTestServer(t testing.TB, lines ...string) *testServer {
	t.Helper()
	return newTestServerWithStore(t, func(s session.Store) session.Store { return s }, lines...)
}

// newTestServerWithStore is newTestServer with a wrapped store.
func newTestServerWithStore(t testing.TB, wrap func(session.Store) session.Store, lines ...string) *testServer {
	t.Helper()
	w := &testServer{wrap: wrap, t: t, dir: t.TempDir(), agents: &agents{scripts: map[string]*script.Script{}}}
	w.script = w.agents.add(t, "main", lines...)
	w.start()
	t.Cleanup(w.stop)
	return w
}

func (w *testServer) start() {
	w.t.Helper()
	server, err := serve(w.dir, w.agents, w.wrap)
	if err != nil {
		w.t.Fatal(err)
	}
	w.server.Store(server)
}

func (w *testServer) stop() {
	if err := w.server.Load().close(); err != nil {
		w.t.Error(err)
	}
}

func (w *testServer) dial(ctx context.Context) (net.Conn, error) { return w.server.Load().dial(ctx) }

// client returns a native client with a user name.
func (w *testServer) client(name string, tweak ...func(*wsclient.Options)) *wsclient.Client {
	w.t.Helper()
	o := wsclient.Options{Name: name, UserAgent: "e2e", Dial: w.dial}
	for _, f := range tweak {
		f(&o)
	}
	c := wsclient.New("ws://server", o)
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// create creates a session of the default agent and returns its id.
func (w *testServer) create(c *wsclient.Client) string {
	w.t.Helper()
	return do[protocol.CreateResult](w.t, c, protocol.DoCreate, "", protocol.CreateData{}).Session
}

func (w *testServer) send(c *wsclient.Client, session, text string) protocol.SendResult {
	w.t.Helper()
	return do[protocol.SendResult](w.t, c, protocol.DoSend, session, protocol.SendData{Text: text})
}

// do executes a command that must succeed.
func do[R any](t tb, c *wsclient.Client, verb protocol.Verb, session string, data any) R {
	t.Helper()
	r, err := wsclient.Call[R](t.Context(), c, verb, session, data)
	if err != nil {
		t.Fatalf("%s: %v", verb, err)
	}
	return r
}

// An observer follows a session, checks the sequence of its events and applies them.
type observer struct {
	session    string
	resets     bool // later attachments may reset, as in some dialects
	attached   []protocol.SubscribeResult
	state      *protocol.State
	transcript *protocol.Transcript
	next       uint64   // expected next seq
	raw        []string // raw lines of durable events
	err        error
}

// observe follows a session until last returns true for a durable event. Without a position it
// attaches like a screen: with the snapshot and the earlier turns from the history.
func observe(
	ctx context.Context, c *wsclient.Client, name string, o wsclient.SubscribeOptions, last func(*protocol.Event) bool,
) *observer {
	w := &observer{session: name, transcript: &protocol.Transcript{}}
	for it, err := range c.Subscribe(name, o).Events(ctx) {
		if err != nil {
			w.err = err
			return w
		}
		if it.Attached != nil {
			w.err = w.attach(ctx, c, it.Attached)
		} else if it.Event.Durable() {
			w.err = w.apply(it.Event, it.Raw)
		}
		if w.err != nil || it.Event != nil && it.Event.Durable() && last(it.Event) {
			return w
		}
	}
	w.err = errors.Join(errors.New("the subscription ended"), ctx.Err())
	return w
}

func (w *observer) attach(ctx context.Context, c *wsclient.Client, r *protocol.SubscribeResult) error {
	w.attached = append(w.attached, *r)
	if len(w.attached) > 1 && w.resets && r.Mode == protocol.ModeReset {
		w.transcript = &protocol.Transcript{}
	} else if len(w.attached) > 1 {
		if r.Mode != protocol.ModeResume || r.After.Seq != w.next-1 {
			return fmt.Errorf("attached again with %s after %v, not after %d", r.Mode, r.After, w.next-1)
		}
		return nil
	}
	w.state, w.next = &protocol.State{Session: r.Session}, r.After.Seq+1
	if r.Snapshot == nil {
		if r.After.Seq != 0 { // the earlier state is unknown: check only the sequence
			w.state = nil
		}
		return nil
	}
	w.state = r.Snapshot.State
	if w.state.Seq != r.After.Seq {
		return fmt.Errorf("the snapshot is at %d, the events follow %d", w.state.Seq, r.After.Seq)
	}
	if r.After.Seq == 0 {
		return nil
	}
	past, err := wsclient.Call[protocol.HistoryResult](ctx, c, protocol.DoHistory, r.Session,
		protocol.HistoryData{Before: r.After.Seq + 1, Limit: 100})
	if err != nil {
		return err
	}
	for _, line := range past.Events {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		if _, err := w.transcript.Apply(&e); err != nil {
			return err
		}
	}
	return nil
}

func (w *observer) apply(e *protocol.Event, raw []byte) error {
	if e.First() != w.next || e.Seq < e.First() {
		return fmt.Errorf("got %d..%d, want %d", e.First(), e.Seq, w.next)
	}
	w.next = e.Seq + 1
	w.raw = append(w.raw, string(raw))
	if w.state == nil {
		return nil
	}
	if err := w.state.Apply(e); err != nil {
		return err
	}
	_, err := w.transcript.Apply(e)
	return err
}

// encode returns the state and the transcript for comparison.
func (w *observer) encode(t tb) string {
	t.Helper()
	return string(protocol.MustEncode(w.state)) + "\n" + string(protocol.MustEncode(w.transcript))
}

// text returns the agent's text.
func (w *observer) text() string {
	var b strings.Builder
	for _, turn := range w.transcript.Turns {
		for _, it := range turn.Items {
			if it.Kind == protocol.ItemText {
				b.Write(it.Text)
			}
		}
	}
	return b.String()
}

// turnsEnded returns a stop condition for observe: the n-th end of a turn.
func turnsEnded(n int) func(*protocol.Event) bool {
	return func(e *protocol.Event) bool {
		if e.Type == protocol.TurnEnded {
			n--
		}
		return n == 0
	}
}

// reached returns a stop condition for observe: the event that contains seq.
func reached(seq uint64) func(*protocol.Event) bool {
	return func(e *protocol.Event) bool { return e.Seq >= seq }
}

// eventOfType returns a stop condition for observe.
func eventOfType(typ protocol.Type) func(*protocol.Event) bool {
	return func(e *protocol.Event) bool { return e.Type == typ }
}

// logStart returns the position before the first event.
func logStart() *protocol.Position { return &protocol.Position{} }

// async runs f on a goroutine and returns a channel with its result.
func async[T any](f func() T) <-chan T {
	result := make(chan T, 1)
	go func() { result <- f() }()
	return result
}

// mustObserve is observe that fails the test on an error.
func mustObserve(
	t tb, c *wsclient.Client, name string, o wsclient.SubscribeOptions, last func(*protocol.Event) bool,
) *observer {
	t.Helper()
	w := observe(t.Context(), c, name, o, last)
	if w.err != nil {
		t.Fatal(w.err)
	}
	return w
}
