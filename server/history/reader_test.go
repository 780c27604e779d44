package history

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/server/session"
)

func TestMain(m *testing.M) {
	thorough.Checks(40, 100)
	goleak.VerifyTestMain(m)
}

// testingT is the part of testing.TB that tests and properties share.
type testingT interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// noDeadline hides the deadline of a test, which a synctest bubble has passed.
type noDeadline struct{ rapid.TB }

// testReader is a Reader over a hub with a memStore and fake agents. It runs in a synctest bubble.
type testReader struct {
	t      testingT
	store  *memStore
	agents *fakeAgents
	hub    *session.Hub
	reader *Reader
}

// A testCall is a command and its answer.
type testCall struct {
	cmd     protocol.Command
	replies int
	body    json.RawMessage
	err     error
}

func newTestReader(t testingT) *testReader {
	r := &testReader{t: t, store: newMemStore(), agents: &fakeAgents{}}
	r.open()
	return r
}

func (r *testReader) open() {
	r.t.Helper()
	hub, err := session.NewHub(
		context.Background(),
		session.Config{Store: r.store, Agents: r.agents, DefaultAgent: "fake"},
	)
	if err != nil {
		r.t.Fatalf("open hub: %v", err)
	}
	r.hub, r.reader = hub, NewReader(r.store, hub.Sessions(), nil)
	synctest.Wait()
}

func (r *testReader) close() {
	r.t.Helper()
	r.reader.Close()
	if err := r.hub.Close(context.Background()); err != nil {
		r.t.Fatalf("close hub: %v", err)
	}
	synctest.Wait()
}

func (r *testReader) restart() { r.t.Helper(); r.close(); r.open() }

// start sends a command without waiting for its answer.
func (r *testReader) start(c protocol.Command) *testCall {
	k := &testCall{cmd: c}
	var mu sync.Mutex
	reply := func(body json.RawMessage, err error) {
		mu.Lock()
		defer mu.Unlock()
		k.replies++
		k.body, k.err = body, err
	}
	if Handles(c.Command) {
		r.reader.Do(context.Background(), &c, reply)
	} else {
		r.hub.Do(context.Background(), &c, session.Caller{By: protocol.Actor{Name: "anna"}, Conn: "c1"}, reply)
	}
	return k
}

// do sends a command and waits for its answer.
func (r *testReader) do(c protocol.Command) *testCall {
	k := r.start(c)
	synctest.Wait()
	return k
}

func newCommand(verb protocol.Verb, session string, data any) protocol.Command {
	return protocol.Command{Command: verb, Session: session, Data: protocol.MustEncode(data)}
}

// must decodes a call's result and fails the test unless the call was answered once, without an
// error.
func must[T any](r *testReader, k *testCall) T {
	r.t.Helper()
	var v T
	if k.replies != 1 || k.err != nil {
		r.t.Fatalf("%s: %d replies, error %v", k.cmd.Command, k.replies, k.err)
	}
	if err := json.Unmarshal(k.body, &v); err != nil {
		r.t.Fatalf("%s: %v", k.cmd.Command, err)
	}
	return v
}

// refused fails the test unless the call was answered once, with an error of the code.
func refused(r *testReader, k *testCall, code protocol.Code) {
	r.t.Helper()
	if k.replies != 1 || protocol.CodeOf(k.err) != code {
		r.t.Fatalf(
			"%s: %d replies, error %v (%s); want %s",
			k.cmd.Command,
			k.replies,
			k.err,
			protocol.CodeOf(k.err),
			code,
		)
	}
}

func (r *testReader) create() string {
	r.t.Helper()
	return must[protocol.CreateResult](r, r.do(newCommand(protocol.DoCreate, "", protocol.CreateData{}))).Session
}

func (r *testReader) send(session, text string) {
	r.t.Helper()
	must[protocol.SendResult](r, r.do(newCommand(protocol.DoSend, session, protocol.SendData{Text: text})))
}

// bubble runs a test with fake time and checks that nothing is left running.
func bubble(t *testing.T, f func(t *testing.T, r *testReader)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newTestReader(t)
		defer r.close()
		f(t, r)
	})
}

func TestOnlyHistoryCommandsAreHandled(t *testing.T) {
	for _, c := range protocol.Commands {
		want := c.Verb == protocol.DoHistory || c.Verb == protocol.DoBlob || c.Verb == protocol.DoSearch
		if Handles(c.Verb) != want {
			t.Errorf("Handles(%s) is %t", c.Verb, !want)
		}
	}
	bubble(t, func(t *testing.T, r *testReader) {
		var got error
		cmd := newCommand(protocol.DoSnapshot, r.create(), protocol.Empty{})
		r.reader.Do(t.Context(), &cmd, func(_ json.RawMessage, err error) { got = err })
		if protocol.CodeOf(got) != protocol.CodeUnsupported {
			t.Errorf("snapshot: %v", got)
		}
		var fromHub error
		cmd = newCommand(protocol.DoSearch, cmd.Session, protocol.SearchData{Query: "x"})
		r.hub.Do(t.Context(), &cmd, session.Caller{}, func(_ json.RawMessage, err error) { fromHub = err })
		if protocol.CodeOf(fromHub) != protocol.CodeUnsupported {
			t.Errorf("search of the hub: %v", fromHub)
		}
	})
}

func TestAClosedReaderRefusesSearches(t *testing.T) {
	bubble(t, func(_ *testing.T, r *testReader) {
		id := r.create()
		release := make(chan struct{})
		r.store.setFailRead(func() error { <-release; return nil })
		var running, waiting []*testCall
		for range maxSearches {
			running = append(running, r.start(newCommand(protocol.DoSearch, id, protocol.SearchData{Query: "x"})))
		}
		synctest.Wait()
		for range 2 {
			waiting = append(waiting, r.start(newCommand(protocol.DoSearch, id, protocol.SearchData{Query: "x"})))
		}
		closed := false
		go func() {
			r.reader.Close()
			closed = true
		}()
		synctest.Wait()
		for _, k := range append(waiting, r.do(newCommand(protocol.DoSearch, id, protocol.SearchData{Query: "x"}))) {
			refused(r, k, protocol.CodeShuttingDown)
		}
		if closed {
			r.t.Errorf("closed before the running searches ended")
		}
		close(release)
		synctest.Wait()
		for _, k := range running {
			must[protocol.SearchResult](r, k)
		}
		if !closed {
			r.t.Errorf("not closed after the last search")
		}
		time.Sleep(time.Second)
	})
}
