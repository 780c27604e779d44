package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/server/agent/script"
	"agentctl/server/session"
	"agentctl/wsclient"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "30"); err != nil { // each is a session from end to end; the command line wins
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// tb is a *testing.T, *testing.B or *rapid.T.
type tb interface {
	rapid.TB
	Context() context.Context
}

// agents are scripts by name.
type agents struct {
	mu      sync.Mutex
	scripts map[string]*script.Script
}

// add makes an agent of lines.
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

func (a *agents) Open(spec session.Spec, host session.Host) (session.Agent, error) {
	a.mu.Lock()
	s := a.scripts[spec.Agent]
	a.mu.Unlock()
	if s == nil {
		return nil, protocol.Errorf(protocol.CodeNoAgent, "there is no agent %q", spec.Agent)
	}
	return s.Open(spec, host)
}

func (a *agents) Names() []string { return []string{"main"} }

// A world is a server and who talks to it. It ends with the test, and nothing of it may be left.
type world struct {
	t      testing.TB
	dir    string
	script *script.Script // of the default agent
	agents *agents
	wrap   func(session.Store) session.Store
	server atomic.Pointer[running]
}

// open starts a server whose default agent plays the lines.
func open(t testing.TB, lines ...string) *world {
	t.Helper()
	return openOn(t, func(s session.Store) session.Store { return s }, lines...)
}

// openOn is open on a store that wrap makes.
func openOn(t testing.TB, wrap func(session.Store) session.Store, lines ...string) *world {
	t.Helper()
	w := &world{wrap: wrap, t: t, dir: t.TempDir(), agents: &agents{scripts: map[string]*script.Script{}}}
	w.script = w.agents.add(t, "main", lines...)
	w.start()
	t.Cleanup(w.stop)
	return w
}

func (w *world) start() {
	w.t.Helper()
	server, err := serve(w.dir, w.agents, w.wrap)
	if err != nil {
		w.t.Fatal(err)
	}
	w.server.Store(server)
}

func (w *world) stop() {
	if err := w.server.Load().close(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) dial(ctx context.Context) (net.Conn, error) { return w.server.Load().dial(ctx) }

// client connects as a person of that name.
func (w *world) client(name string, tweak ...func(*wsclient.Options)) *wsclient.Client {
	w.t.Helper()
	o := wsclient.Options{Name: name, UserAgent: "e2e", Dial: w.dial}
	for _, f := range tweak {
		f(&o)
	}
	c := wsclient.New("ws://server", o)
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// create makes a session of the default agent and returns its id.
func (w *world) create(c *wsclient.Client) string {
	w.t.Helper()
	return do[protocol.CreateResult](w.t, c, protocol.DoCreate, "", protocol.CreateData{}).Session
}

func (w *world) send(c *wsclient.Client, session, text string) protocol.SendResult {
	w.t.Helper()
	return do[protocol.SendResult](w.t, c, protocol.DoSend, session, protocol.SendData{Text: text})
}

// do does a command that must succeed.
func do[R any](t tb, c *wsclient.Client, verb protocol.Verb, session string, data any) R {
	t.Helper()
	r, err := wsclient.Call[R](t.Context(), c, verb, session, data)
	if err != nil {
		t.Fatalf("%s: %v", verb, err)
	}
	return r
}

// A witness follows a session and folds what it sees.
type witness struct {
	session    string
	resets     bool // an attachment after the first may begin anew, as over a dialect
	attached   []protocol.SubscribeResult
	state      *protocol.State
	transcript *protocol.Transcript
	next       uint64   // the seq that must come next
	raw        []string // durable events as on the wire
	err        error
}

// watch follows a session until a durable event is the last one wanted. Without a position it attaches as a screen does: with
// the snapshot, and the turns before it from the history.
func watch(ctx context.Context, c *wsclient.Client, name string, o wsclient.SubscribeOptions, last func(*protocol.Event) bool) *witness {
	w := &witness{session: name, transcript: &protocol.Transcript{}}
	for it, err := range c.Subscribe(name, o).Events(ctx) {
		if err != nil {
			w.err = err
			return w
		}
		if it.Attached != nil {
			w.err = w.attach(ctx, c, it.Attached)
		} else if it.Event.Durable() {
			w.err = w.take(it.Event, it.Raw)
		}
		if w.err != nil || it.Event != nil && it.Event.Durable() && last(it.Event) {
			return w
		}
	}
	w.err = errors.Join(errors.New("the subscription ended"), ctx.Err())
	return w
}

func (w *witness) attach(ctx context.Context, c *wsclient.Client, r *protocol.SubscribeResult) error {
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
		if r.After.Seq != 0 { // what came before is not known: only the sequence counts
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

func (w *witness) take(e *protocol.Event, raw []byte) error {
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

// folded returns the state and the transcript, to be compared.
func (w *witness) folded(t tb) string {
	t.Helper()
	return string(protocol.MustEncode(w.state)) + "\n" + string(protocol.MustEncode(w.transcript))
}

// text returns all that the agent said.
func (w *witness) text() string {
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

// turns returns a last for watch: the n-th end of a turn.
func turns(n int) func(*protocol.Event) bool {
	return func(e *protocol.Event) bool {
		if e.Type == protocol.TurnEnded {
			n--
		}
		return n == 0
	}
}

// through returns a last for watch: the event that holds seq.
func through(seq uint64) func(*protocol.Event) bool {
	return func(e *protocol.Event) bool { return e.Seq >= seq }
}

// type of event returns a last for watch.
func until(typ protocol.Type) func(*protocol.Event) bool {
	return func(e *protocol.Event) bool { return e.Type == typ }
}

// beginning is where a session's log begins.
func beginning() *protocol.Position { return &protocol.Position{} }

// async runs f on a goroutine of its own; the result comes when it is done.
func async[T any](f func() T) <-chan T {
	result := make(chan T, 1)
	go func() { result <- f() }()
	return result
}

// see watches and fails the test when that went wrong.
func see(t tb, c *wsclient.Client, name string, o wsclient.SubscribeOptions, last func(*protocol.Event) bool) *witness {
	t.Helper()
	w := watch(t.Context(), c, name, o, last)
	if w.err != nil {
		t.Fatal(w.err)
	}
	return w
}
