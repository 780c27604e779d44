package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"agentctl/internal/dev/memory"
	"agentctl/internal/export"
	"agentctl/protocol"
	"agentctl/server"
	"agentctl/server/agent"
	"agentctl/server/agent/script"
	"agentctl/server/history"
	"agentctl/server/session"
	"agentctl/server/sqlite"
	"agentctl/server/web"
)

func TestMain(m *testing.M) {
	memory.Use()
	goleak.VerifyTestMain(m)
}

var testScript = `
{"steers":true}
{"on":"few"}
{"burst":100,"size":40}
{"on":"large"}
{"burst":60,"size":40000}
{"on":"hang"}
{"wait":"never"}
{"on":"slow"}
{"sleep":"10s"}
{"say":"at last"}
{"on":"ask"}
{"ask":"command","request":"r{n}","command":"rm -rf build","title":"Remove","then":[{"say":"Removed it."}],"else":[{"say":"Kept it."}]}
{"on":"lead"}
{"steer":1}
{"sleep":"5s"}
{"say":"I {steered}"}
{"on":"blob"}
{"emit":"raw","data":{"source":"test","data":"` + strings.Repeat("x", 300<<10) + `"}}
`

// A testServer is a hub with its own store and this package's handler on a pipe. It runs in a
// synctest bubble.
type testServer struct {
	t       *testing.T
	script  *script.Script
	hub     *session.Hub
	history *history.Reader
	pipe    *server.Pipe
	client  *http.Client
}

func bubble(t *testing.T, f func(t *testing.T, w *testServer)) {
	t.Helper()
	bubbleOn(t, func(s session.Store) session.Store { return s }, f)
}

func bubbleOn(t *testing.T, wrap func(session.Store) session.Store, f func(t *testing.T, w *testServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &testServer{t: t, pipe: server.NewPipe()}
		var err error
		w.script, err = script.Parse("test", strings.NewReader(testScript))
		must(t, err)
		store, err := sqlite.Open(t.TempDir(), sqlite.Options{BootID: "here"})
		must(t, err)
		wrapped := wrap(store)
		w.hub, err = session.NewHub(t.Context(), session.Config{Store: wrapped, Agents: w, DefaultAgent: "script"})
		must(t, err)
		w.history = history.NewReader(wrapped, w.hub.Sessions(), nil)
		h := &http.Server{
			Handler: web.Handler(web.Config{
				Hub: w.hub, History: w.history, Commands: w, Documents: export.Documents{},
				MaxBody: func() int64 { return 64 << 10 }, Log: slog.New(slog.DiscardHandler),
			}),
			ReadHeaderTimeout: time.Minute,
		}
		served := make(chan error, 1)
		go func() { served <- h.Serve(w.pipe.Listener.Listener) }()
		w.client = &http.Client{
			Transport: &http.Transport{
				DisableKeepAlives: true,
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					return w.pipe.Dial(ctx)
				},
			},
		}
		f(t, w)
		must(t, h.Close())
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		synctest.Wait()
		w.history.Close()
		must(t, w.hub.Close(context.Background()))
		must(t, store.Close())
	})
}

func (w *testServer) Names() []string { return nil }

// Do implements web.Commands.
func (w *testServer) Do(r *http.Request, cmd *protocol.Command) (json.RawMessage, error) {
	type answer struct {
		result json.RawMessage
		err    error
	}
	answers := make(chan answer, 1)
	reply := func(result json.RawMessage, err error) { answers <- answer{result, err} }
	if history.Handles(cmd.Command) {
		w.history.Do(r.Context(), cmd, reply)
	} else {
		w.hub.Do(r.Context(), cmd, session.Caller{By: w.Actor(r)}, reply)
	}
	a := <-answers
	return a.result, a.err
}

// Resolve implements web.Commands.
func (w *testServer) Resolve(_ *http.Request, name string) (string, error) {
	return w.hub.Sessions().Resolve(name)
}

// Actor implements web.Commands.
func (w *testServer) Actor(*http.Request) protocol.Actor { return protocol.Actor{Name: "ada"} }

func (w *testServer) Open(spec agent.Spec, host agent.Host) (agent.Agent, error) {
	return w.script.Open(spec, host)
}

// do runs a command and waits until everything is idle.
func (w *testServer) do(verb protocol.Verb, id string, data any) json.RawMessage {
	w.t.Helper()
	var result json.RawMessage
	done := make(chan error, 1)
	w.hub.Do(
		w.t.Context(),
		&protocol.Command{Command: verb, Session: id, Data: protocol.MustEncode(data)},
		session.Caller{By: protocol.Actor{Name: "ada"}},
		func(r json.RawMessage, err error) {
			result = r
			done <- err
		},
	)
	must(w.t, <-done)
	synctest.Wait()
	return result
}

// runTurn creates a session with a prompt.
func (w *testServer) runTurn(prompt string) string {
	w.t.Helper()
	var r protocol.CreateResult
	must(w.t, json.Unmarshal(w.do(protocol.DoCreate, "", protocol.CreateData{Prompt: prompt}), &r))
	return r.Session
}

func (w *testServer) snapshot(id string) (r protocol.SnapshotResult) {
	w.t.Helper()
	must(w.t, json.Unmarshal(w.do(protocol.DoSnapshot, id, protocol.Empty{}), &r))
	return r
}

func (w *testServer) request(method, path string, header ...string) *http.Response {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	w.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, "http://server"+path, nil)
	must(w.t, err)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := w.client.Do(r)
	must(w.t, err)
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// get returns a decoded JSON answer.
func get[T any](w *testServer, path string) (v T) {
	w.t.Helper()
	resp := w.request("GET", path)
	b, err := io.ReadAll(resp.Body)
	must(w.t, err)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/json" ||
		resp.Header.Get("X-Content-Type-Options") != "nosniff" {
		w.t.Errorf("GET %s: status %d, header %v", path, resp.StatusCode, resp.Header)
	}
	must(w.t, json.Unmarshal(b, &v))
	return v
}

// A stream is a client of server-sent events.
type stream struct {
	t    *testing.T
	resp *http.Response

	mu     sync.Mutex
	got    []receivedEvent
	pings  int
	closed bool
}

type receivedEvent struct {
	name, id string
	protocol.Event
	data []byte
}

func (w *testServer) stream(path string, header ...string) *stream {
	w.t.Helper()
	s := &stream{t: w.t, resp: w.request("GET", path, header...)}
	if s.resp.StatusCode != http.StatusOK || s.resp.Header.Get("Content-Type") != "text/event-stream" {
		w.t.Fatalf("GET %s: status %d, header %v", path, s.resp.StatusCode, s.resp.Header)
	}
	go s.read()
	return s
}

func (s *stream) read() {
	lines := bufio.NewScanner(s.resp.Body)
	lines.Buffer(nil, 1<<20)
	var e receivedEvent
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		s.mu.Lock()
		switch {
		case lines.Text() == ": ":
			s.pings++
		case lines.Text() == "" && e.data != nil:
			if e.name == "" {
				if err := json.Unmarshal(e.data, &e.Event); err != nil {
					s.t.Error(err)
				}
			}
			s.got = append(s.got, e)
			e = receivedEvent{}
		}
		switch field {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			e.data = []byte(value)
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
}

// received returns the events received since the last call.
func (s *stream) received() []receivedEvent {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.got
	s.got = nil
	return got
}

func (s *stream) over() bool {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
