package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"agentctl/internal/dev/memory"
	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/script"
	"agentctl/server/hook"
	"agentctl/server/login"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

func TestMain(m *testing.M) {
	thorough.Checks(40, 100)
	memory.Use()
	goleak.VerifyTestMain(m)
}

// testScript is the script of the agent in these tests.
const testScript = `
{"on":"ask"}
{"ask":"command","command":"ls","title":"List files"}
{"say":"decided {decision}"}
{"on":"hang"}
{"wait":"never"}
{"on":"gate"}
{"wait":"gate"}
{"say":"through the gate"}
{"on":"words before a request"}
{"burst":8,"size":4,"delay":"30ms"}
{"ask":"command","command":"ls","title":"List files"}
{"on":"an open flood"}
{"say":"0123456789 ","times":20000,"words":100,"open":true,"part":"p"}
{"wait":"never"}
{"on":"few"}
{"burst":30,"size":40}
{"on":"five hundred words a second"}
{"burst":20000,"size":6,"delay":"2ms"}
{"on":"some"}
{"burst":60,"size":200}
{"burst":3,"size":30000}
{"on":"bench"}
{"burst":2000,"size":100}
{"on":"much"}
{"burst":3000,"size":200}
{"on":"very much"}
{"burst":20000,"size":200}
{"on":"large"}
{"burst":60,"size":40000}
{"on":"endless"}
{"burst":10000000,"size":300,"delay":"1ms"}
{"on":"fifty words a second"}
{"burst":10000000,"size":300,"delay":"20ms"}
`

// testTimeout bounds every wait of these tests.
const testTimeout = time.Minute

// A testServer is a server with its own store and a listener in memory.
type testServer struct {
	t      testing.TB
	dir    string
	script *script.Script
	store  *sqlite.Store
	server *Server
	pipe   *Pipe
	served chan error
	limits Limits
	bounds session.Limits
	auth   *login.Authenticator
	wrap   func(session.Store) session.Store
	log    *slog.Logger // nil: no log
	hooks  []hook.Hook
}

// newTestServer starts a server. Options run before the start.
func newTestServer(t testing.TB, options ...func(*testServer)) *testServer {
	t.Helper()
	w := &testServer{t: t, dir: t.TempDir(), wrap: func(s session.Store) session.Store { return s }}
	for _, o := range options {
		o(w)
	}
	w.start()
	t.Cleanup(w.stop)
	return w
}

func withLimits(l Limits) func(*testServer) { return func(w *testServer) { w.limits = l } }

func (w *testServer) Names() []string { return []string{"script"} }

func (w *testServer) Open(spec agent.Spec, host agent.Host) (agent.Agent, error) {
	return w.script.Open(spec, host)
}

func (w *testServer) start() {
	w.t.Helper()
	var err error
	w.script, err = script.Parse("play", strings.NewReader(testScript))
	must(w.t, err)
	w.store, err = sqlite.Open(w.dir, sqlite.Options{BootID: "here"})
	must(w.t, err)
	w.server, err = New(w.t.Context(), Config{
		Session: session.Config{
			Store:        w.wrap(w.store),
			Agents:       w,
			DefaultAgent: "script",
			Limits:       w.bounds,
		},
		Version:       "test",
		Limits:        w.limits,
		Authenticator: w.auth,
		Log:           w.log,
		Hooks:         w.hooks,
		HooksDir:      filepath.Join(w.dir, "hooks"),
	})
	must(w.t, err)
	w.pipe = NewPipe()
	w.served = make(chan error, 1)
	go func() { w.served <- w.server.Serve(w.pipe.Listener) }()
}

// serve serves another listener until the server stops, and returns its address.
func (w *testServer) serve(l *Listener) string {
	w.t.Helper()
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(l) }()
	w.t.Cleanup(func() {
		w.stop()
		if err := <-served; err != nil {
			w.t.Error(err)
		}
	})
	return l.Addr().String()
}

// clients returns the number of connected clients.
func (w *testServer) clients() (n int) {
	w.server.eachConn(func(*conn) { n++ })
	return n
}

// stop shuts the server down. A second call does nothing.
func (w *testServer) stop() {
	w.t.Helper()
	if w.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	if err := w.server.Shutdown(ctx); err != nil {
		w.t.Errorf("shutdown: %v", err)
	}
	if err := <-w.served; err != nil {
		w.t.Errorf("serve: %v", err)
	}
	if err := w.store.Close(); err != nil {
		w.t.Errorf("close store: %v", err)
	}
	w.store = nil
}

// A testClient is a WebSocket and the lines received on it that were not read by the test.
type testClient struct {
	t       testing.TB
	ws      *websocket.Conn
	timeout time.Duration // of a read
	lines   []string
	nextID  int
}

// dial connects without sending hello.
func (w *testServer) dial() *testClient {
	w.t.Helper()
	return dialWebSocket(w.t, w.pipe.Dial)
}

func dialWebSocket(t testing.TB, dial func(context.Context) (net.Conn, error)) *testClient {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws://server"+protocol.Path, &websocket.DialOptions{
		HTTPClient: httpClient(dial), Subprotocols: []string{protocol.Subprotocol},
	})
	must(t, err)
	if got := ws.Subprotocol(); got != protocol.Subprotocol {
		t.Errorf("subprotocol %q", got)
	}
	ws.SetReadLimit(-1)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &testClient{t: t, ws: ws, timeout: testTimeout}
}

// httpClient returns an HTTP client that dials with a function.
func httpClient(dial func(context.Context) (net.Conn, error)) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return dial(ctx)
			},
		},
	}
}

// write sends a message unchanged.
func (c *testClient) write(message string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	must(c.t, c.ws.Write(ctx, websocket.MessageText, []byte(message)))
}

// line returns the next line, or the error that ended the connection.
func (c *testClient) line() (string, error) {
	for len(c.lines) == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
		_, b, err := c.ws.Read(ctx)
		cancel()
		if err != nil {
			return "", err
		}
		for line := range protocol.Lines(b) {
			c.lines = append(c.lines, string(line))
		}
	}
	line := c.lines[0]
	c.lines = c.lines[1:]
	return line, nil
}

// A serverMessage is a line of the server: an event or an answer.
type serverMessage struct {
	protocol.Event
	ID     string          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *protocol.Error `json:"error"`
}

func (m *serverMessage) isAnswer() bool { return m.Type == "" }

func (c *testClient) next() serverMessage {
	c.t.Helper()
	line, err := c.line()
	if err != nil {
		c.t.Fatalf("the connection ended: %v", err)
	}
	var m serverMessage
	must(c.t, json.Unmarshal([]byte(line), &m))
	return m
}

// waitFor returns the next message that matches and all before it.
func (c *testClient) waitFor(what string, matches func(serverMessage) bool) (m serverMessage, before []serverMessage) {
	c.t.Helper()
	deadline := time.Now().Add(testTimeout)
	for {
		if time.Now().After(deadline) {
			c.t.Fatalf("waited too long for %s; got %d lines", what, len(before))
		}
		m := c.next()
		if matches(m) {
			return m, before
		}
		before = append(before, m)
	}
}

func (c *testClient) waitForType(typ protocol.Type) (serverMessage, []serverMessage) {
	c.t.Helper()
	return c.waitFor(string(typ), func(m serverMessage) bool { return m.Type == typ })
}

// closeCode reads until the connection ends and returns its close code, -1 without a closing
// handshake.
func (c *testClient) closeCode() websocket.StatusCode {
	for {
		if _, err := c.line(); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

// send sends a command and returns its id.
func (c *testClient) send(verb protocol.Verb, session string, data any) string {
	c.t.Helper()
	c.nextID++
	cmd := protocol.Command{ID: fmt.Sprint(c.nextID), Command: verb, Session: session}
	if data != nil {
		cmd.Data = protocol.MustEncode(data)
	}
	c.write(string(protocol.MustEncode(cmd)))
	return cmd.ID
}

// answer returns the answer with an id. Messages before it are read again later.
func (c *testClient) answer(id string) serverMessage {
	c.t.Helper()
	m, before := c.waitFor("the answer "+id, func(m serverMessage) bool { return m.isAnswer() && m.ID == id })
	var lines []string
	for _, b := range before {
		lines = append(lines, string(protocol.MustEncode(b)))
	}
	c.lines = append(lines, c.lines...)
	return m
}

// ask sends a command and waits for its answer.
func (c *testClient) ask(verb protocol.Verb, session string, data any) serverMessage {
	c.t.Helper()
	return c.answer(c.send(verb, session, data))
}

// ok sends a command and decodes its result.
func ok[T any](c *testClient, verb protocol.Verb, session string, data any) T {
	c.t.Helper()
	return result[T](c, c.ask(verb, session, data))
}

func result[T any](c *testClient, m serverMessage) (v T) {
	c.t.Helper()
	if m.Error != nil {
		c.t.Fatalf("error %s: %s", m.Error.Code, m.Error.Message)
	}
	must(c.t, json.Unmarshal(m.Result, &v))
	return v
}

func (c *testClient) hello(d protocol.HelloData) protocol.HelloResult {
	c.t.Helper()
	return ok[protocol.HelloResult](c, protocol.DoHello, "", d)
}

// create creates a session; a prompt starts its first turn.
func (c *testClient) create(prompt string) string {
	c.t.Helper()
	return ok[protocol.CreateResult](c, protocol.DoCreate, "", protocol.CreateData{Prompt: prompt}).Session
}

// runTurn creates a session whose first turn has ended.
func (w *testServer) runTurn(prompt string) string {
	w.t.Helper()
	c := w.dial()
	id := c.create("")
	c.subscribe(id, "")
	c.send(protocol.DoSend, id, protocol.SendData{Text: prompt})
	c.waitForType(protocol.TurnEnded)
	_ = c.ws.Close(websocket.StatusNormalClosure, "")
	return id
}

// subscribe subscribes to a session, after a position unless it is empty.
func (c *testClient) subscribe(id, after string) protocol.SubscribeResult {
	c.t.Helper()
	return ok[protocol.SubscribeResult](c, protocol.DoSubscribe, id, subscribeData(c.t, after))
}

func subscribeData(t testing.TB, after string) protocol.SubscribeData {
	t.Helper()
	if after == "" {
		return protocol.SubscribeData{}
	}
	at, err := protocol.ParsePosition(after)
	must(t, err)
	return protocol.SubscribeData{Position: &at}
}

// caughtUp returns the events before caught_up of a session.
func (c *testClient) caughtUp(id string) []serverMessage {
	c.t.Helper()
	_, before := c.waitFor(
		"caught_up",
		func(m serverMessage) bool { return m.Type == protocol.CaughtUp && m.Session == id },
	)
	return slices.DeleteFunc(before, func(m serverMessage) bool { return m.Session != id || m.Seq == 0 })
}

// follows checks that events have neither gap nor repeat, and returns the last seq.
func follows(t testing.TB, after uint64, events []serverMessage) uint64 {
	t.Helper()
	for _, e := range events {
		if e.Seq == 0 || e.isAnswer() {
			continue
		}
		if e.First() != after+1 {
			t.Fatalf("event %d (from %d) follows %d", e.Seq, e.First(), after)
		}
		after = e.Seq
	}
	return after
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused expects an error with a code.
func (c *testClient) refused(m serverMessage, want protocol.Code) {
	c.t.Helper()
	if m.Error == nil || m.Error.Code != want {
		c.t.Errorf("got %s, want error %s", bytes.TrimSpace(protocol.MustEncode(m)), want)
	}
}
