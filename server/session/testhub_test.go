package session

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"agentctl/internal/dev/memory"
	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
)

func TestMain(m *testing.M) {
	thorough.Checks(25, 100)
	memory.Use()
	goleak.VerifyTestMain(m)
}

// testingT is the part of testing.TB that tests and properties share.
type testingT interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// testHub is a hub with a memStore and fake agents. It runs in a synctest bubble.
type testHub struct {
	t      testingT
	store  *memStore
	agents *fakeAgents
	cfg    Config
	hub    *Hub

	mu    sync.Mutex
	calls []*testCall
}

// testCall is a command and its answer.
type testCall struct {
	cmd     protocol.Command
	who     Caller
	replies int
	body    json.RawMessage
	err     error
	head    uint64 // of the stored session, at the answer
}

func newTestHub(t testingT, cfg Config) *testHub {
	r := &testHub{t: t, store: newMemStore(), agents: &fakeAgents{}, cfg: cfg}
	r.cfg.Secret = []byte("secret")
	r.open()
	return r
}

func (r *testHub) open() {
	r.t.Helper()
	cfg := r.cfg
	cfg.Store, cfg.Agents, cfg.DefaultAgent = r.store, r.agents, "fake"
	hub, err := NewHub(context.Background(), cfg)
	if err != nil {
		r.t.Fatalf("open hub: %v", err)
	}
	r.hub = hub
	synctest.Wait()
}

// close stops the hub in order; kill stops it as if its process had died.
func (r *testHub) close() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if err := r.hub.Close(ctx); err != nil {
		r.t.Fatalf("close hub: %v", err)
	}
	synctest.Wait()
}

func (r *testHub) restart() { r.t.Helper(); r.close(); r.open() }

func (r *testHub) kill() {
	r.t.Helper()
	r.store.kill()
	r.close()
	r.store = r.store.revived()
	r.open()
}

// start sends a command without waiting for its answer.
func (r *testHub) start(who Caller, c protocol.Command) *testCall {
	k := &testCall{cmd: c, who: who}
	r.mu.Lock()
	r.calls = append(r.calls, k)
	r.mu.Unlock()
	r.hub.Do(context.Background(), &c, who, func(body json.RawMessage, err error) {
		r.store.mu.Lock()
		head := uint64(0)
		if s := r.store.sessions[c.Session]; s != nil {
			head = s.rec.Head
		}
		r.store.mu.Unlock()
		r.mu.Lock()
		defer r.mu.Unlock()
		k.replies++
		k.body, k.err, k.head = body, err, head
	})
	return k
}

var anna, bert = Caller{
	By:   protocol.Actor{Name: "anna"},
	Conn: "c1",
}, Caller{
	By:   protocol.Actor{Name: "bert"},
	Conn: "c2",
}

func newCommand(verb protocol.Verb, session string, data any) protocol.Command {
	return protocol.Command{Command: verb, Session: session, Data: protocol.MustEncode(data)}
}

// do sends a command and waits until everything is idle.
func (r *testHub) do(who Caller, c protocol.Command) *testCall {
	k := r.start(who, c)
	r.waitIdle()
	return k
}

// waitIdle waits until everything is idle and all commits have ended.
func (r *testHub) waitIdle() {
	synctest.Wait()
	r.store.mu.Lock()
	latency := r.store.latency
	r.store.mu.Unlock()
	for range 4 {
		if latency > 0 {
			time.Sleep(latency)
			synctest.Wait()
		}
	}
}

// must decodes a call's result and fails the test unless the call was answered once, without an
// error.
func must[T any](r *testHub, k *testCall) T {
	r.t.Helper()
	var v T
	if k.replies != 1 || k.err != nil {
		r.t.Fatalf("%s: answered %d times, %v", k.cmd.Command, k.replies, k.err)
	}
	if err := json.Unmarshal(k.body, &v); err != nil {
		r.t.Fatalf("%s: %v", k.cmd.Command, err)
	}
	return v
}

// refused fails the test unless the call was answered once, with the code.
func refused(r *testHub, k *testCall, code protocol.Code) *protocol.Error {
	r.t.Helper()
	if k.replies != 1 || protocol.CodeOf(k.err) != code {
		r.t.Fatalf(
			"%s: answered %d times, %v (%s); want %s",
			k.cmd.Command,
			k.replies,
			k.err,
			protocol.CodeOf(k.err),
			code,
		)
	}
	return protocol.AsError(k.err)
}

func (r *testHub) create() string {
	r.t.Helper()
	return must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{}))).Session
}

func (r *testHub) send(session, text string) protocol.SendResult {
	r.t.Helper()
	return must[protocol.SendResult](r, r.do(anna, newCommand(protocol.DoSend, session, protocol.SendData{Text: text})))
}

func (r *testHub) state(session string) *protocol.State {
	r.t.Helper()
	return must[protocol.SnapshotResult](
		r,
		r.do(anna, newCommand(protocol.DoSnapshot, session, protocol.Empty{})),
	).Snapshot.State
}

// checkAnswered fails the test unless every command was answered exactly once.
func (r *testHub) checkAnswered() {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.calls {
		if k.replies != 1 {
			r.t.Errorf("%s %s was answered %d times", k.cmd.Command, k.cmd.Data, k.replies)
		}
	}
}

// events returns the stored events of a session, raw or folded.
func (r *testHub) events(session string, folded bool) []protocol.Event {
	r.t.Helper()
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	s := r.store.sessions[session]
	if s == nil {
		return nil
	}
	lines, _ := s.read(0, s.rec.Head, folded, 1<<40, nil)
	return decodeLines(r.t, lines)
}

func decodeLines(t testingT, lines []byte) []protocol.Event {
	t.Helper()
	var list []protocol.Event
	for line := range protocol.Lines(lines) {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("decode %.200s: %v", line, err)
		}
		list = append(list, e)
	}
	return list
}

// encodeState encodes a state as stored and sent in snapshots.
func encodeState(s *protocol.State) json.RawMessage { return protocol.MustEncode(s) }

// reduce returns the state after events from the first.
func reduce(t testingT, session string, events []protocol.Event) *protocol.State {
	t.Helper()
	s := &protocol.State{Session: session}
	for i := range events {
		if err := s.Apply(&events[i]); err != nil {
			t.Fatalf("apply: %v", err)
		}
	}
	return s
}

// types returns the types of events.
func types(events []protocol.Event) []protocol.Type {
	list := make([]protocol.Type, len(events))
	for i := range events {
		list[i] = events[i].Type
	}
	return list
}

// bubble runs a test with fake time and checks that nothing is left running.
func bubble(t *testing.T, cfg Config, f func(t *testing.T, r *testHub)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newTestHub(t, cfg)
		defer func() {
			r.close()
			r.checkAnswered()
			for _, fault := range r.store.faults {
				t.Error(fault)
			}
		}()
		f(t, r)
	})
}
