package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"agentctl/protocol"
	"agentctl/server/agent/script"
	"agentctl/server/login"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// play is what the agent of these tests does.
const play = `
{"on":"ask"}
{"ask":"command","command":"ls","title":"List files"}
{"say":"decided {decision}"}
{"on":"hang"}
{"wait":"never"}
{"on":"gate"}
{"wait":"gate"}
{"say":"through the gate"}
{"on":"few"}
{"burst":30,"size":40}
{"on":"some"}
{"burst":60,"size":200}
{"burst":3,"size":30000}
{"on":"bench"}
{"burst":2000,"size":100}
{"on":"much"}
{"burst":3000,"size":200}
{"on":"large"}
{"burst":60,"size":40000}
{"on":"endless"}
{"burst":10000000,"size":300,"delay":"1ms"}
`

// patience bounds every wait of these tests.
const patience = time.Minute

// A world is a server on a store of its own, reached through a pipe.
type world struct {
	t      testing.TB
	dir    string
	script *script.Script
	store  *sqlite.Store
	server *Server
	pipe   *Pipe
	served chan error
	limits Limits
	gate   *login.Authenticator
	wrap   func(session.Store) session.Store
	log    *slog.Logger // nil: nothing is logged
}

// newWorld starts a server; options change it before.
func newWorld(t testing.TB, options ...func(*world)) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), wrap: func(s session.Store) session.Store { return s }}
	for _, o := range options {
		o(w)
	}
	w.start()
	t.Cleanup(w.stop)
	return w
}

func limited(l Limits) func(*world) { return func(w *world) { w.limits = l } }

func (w *world) Names() []string { return []string{"script"} }

func (w *world) Open(spec session.Spec, host session.Host) (session.Agent, error) {
	return w.script.Open(spec, host)
}

func (w *world) start() {
	w.t.Helper()
	var err error
	w.script, err = script.Parse("play", strings.NewReader(play))
	must(w.t, err)
	w.store, err = sqlite.Open(w.dir, sqlite.Options{Boot: "here"})
	must(w.t, err)
	w.server, err = New(w.t.Context(), Config{
		Session: session.Config{Store: w.wrap(w.store), Agents: w, DefaultAgent: "script"}, Version: "test", Limits: w.limits,
		Gate: w.gate, Log: w.log,
	})
	must(w.t, err)
	w.pipe = NewPipe()
	w.served = make(chan error, 1)
	go func() { w.served <- w.server.Serve(w.pipe.Listener) }()
}

// serve serves another listener until the world stops, and returns its address.
func (w *world) serve(l *Listener) string {
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

// stop shuts the server down; twice does nothing.
func (w *world) stop() {
	w.t.Helper()
	if w.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
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

// A client is a raw WebSocket and what came over it and was not looked at yet.
type client struct {
	t        testing.TB
	ws       *websocket.Conn
	patience time.Duration // of a read
	lines    []string
	asked    int
}

// dial connects without a word.
func (w *world) dial() *client {
	w.t.Helper()
	return dialThrough(w.t, w.pipe.Dial)
}

func dialThrough(t testing.TB, dial func(context.Context) (net.Conn, error)) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws://server"+protocol.Path, &websocket.DialOptions{
		HTTPClient: through(dial), Subprotocols: []string{protocol.Subprotocol},
	})
	must(t, err)
	if got := ws.Subprotocol(); got != protocol.Subprotocol {
		t.Errorf("the server speaks %q", got)
	}
	ws.SetReadLimit(-1)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &client{t: t, ws: ws, patience: patience}
}

// through makes an HTTP client of a way to dial.
func through(dial func(context.Context) (net.Conn, error)) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dial(ctx)
	}}}
}

// write sends a message as it is.
func (c *client) write(message string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(c.t, c.ws.Write(ctx, websocket.MessageText, []byte(message)))
}

// line returns the next line that comes, or how the connection ended.
func (c *client) line() (string, error) {
	for len(c.lines) == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), c.patience)
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

// A told is a line of the server: an event or an answer.
type told struct {
	protocol.Event
	ID     string          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *protocol.Error `json:"error"`
}

func (m *told) answer() bool { return m.Type == "" }

func (c *client) next() told {
	c.t.Helper()
	line, err := c.line()
	if err != nil {
		c.t.Fatalf("the connection ended: %v", err)
	}
	var m told
	must(c.t, json.Unmarshal([]byte(line), &m))
	return m
}

// until returns the next line that fits and all before it.
func (c *client) until(what string, fits func(told) bool) (m told, before []told) {
	c.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		if time.Now().After(deadline) {
			c.t.Fatalf("waited too long for %s; got %d lines", what, len(before))
		}
		m := c.next()
		if fits(m) {
			return m, before
		}
		before = append(before, m)
	}
}

func (c *client) untilType(typ protocol.Type) (told, []told) {
	c.t.Helper()
	return c.until(string(typ), func(m told) bool { return m.Type == typ })
}

// ended reads on until the connection ends and returns its close code, -1 when it was cut.
func (c *client) ended() websocket.StatusCode {
	for {
		if _, err := c.line(); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

// send sends a command and returns its id.
func (c *client) send(verb protocol.Verb, session string, data any) string {
	c.t.Helper()
	c.asked++
	cmd := protocol.Command{ID: fmt.Sprint(c.asked), Command: verb, Session: session}
	if data != nil {
		cmd.Data = protocol.MustEncode(data)
	}
	c.write(string(protocol.MustEncode(cmd)))
	return cmd.ID
}

// answer returns the answer with an id; other lines stay for later.
func (c *client) answer(id string) told {
	c.t.Helper()
	m, before := c.until("the answer "+id, func(m told) bool { return m.answer() && m.ID == id })
	var lines []string
	for _, b := range before {
		lines = append(lines, string(protocol.MustEncode(b)))
	}
	c.lines = append(lines, c.lines...)
	return m
}

// ask sends a command and waits for its answer.
func (c *client) ask(verb protocol.Verb, session string, data any) told {
	c.t.Helper()
	return c.answer(c.send(verb, session, data))
}

// ok asks and takes the result apart.
func ok[T any](c *client, verb protocol.Verb, session string, data any) T {
	c.t.Helper()
	return result[T](c, c.ask(verb, session, data))
}

func result[T any](c *client, m told) (v T) {
	c.t.Helper()
	if m.Error != nil {
		c.t.Fatalf("error %s: %s", m.Error.Code, m.Error.Message)
	}
	must(c.t, json.Unmarshal(m.Result, &v))
	return v
}

func (c *client) hello(d protocol.HelloData) protocol.HelloResult {
	c.t.Helper()
	return ok[protocol.HelloResult](c, protocol.DoHello, "", d)
}

// create makes a session and, with a prompt, starts its first turn.
func (c *client) create(prompt string) string {
	c.t.Helper()
	return ok[protocol.CreateResult](c, protocol.DoCreate, "", protocol.CreateData{Prompt: prompt}).Session
}

// turn creates a session whose first turn has ended.
func (w *world) turn(prompt string) string {
	w.t.Helper()
	c := w.dial()
	id := c.create("")
	c.subscribe(id, "")
	c.send(protocol.DoSend, id, protocol.SendData{Text: prompt})
	c.untilType(protocol.TurnEnded)
	_ = c.ws.Close(websocket.StatusNormalClosure, "")
	return id
}

// subscribe follows a session, after a position when there is one.
func (c *client) subscribe(id, after string) protocol.SubscribeResult {
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
func (c *client) caughtUp(id string) []told {
	c.t.Helper()
	_, before := c.until("caught_up", func(m told) bool { return m.Type == protocol.CaughtUp && m.Session == id })
	return slices.DeleteFunc(before, func(m told) bool { return m.Session != id || m.Seq == 0 })
}

// follows checks that events have no gap and no repeat, and returns the last seq.
func follows(t testing.TB, after uint64, events []told) uint64 {
	t.Helper()
	for _, e := range events {
		if e.Seq == 0 || e.answer() {
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

// code expects an error of a code.
func (c *client) refused(m told, want protocol.Code) {
	c.t.Helper()
	if m.Error == nil || m.Error.Code != want {
		c.t.Errorf("got %s, want error %s", bytes.TrimSpace(protocol.MustEncode(m)), want)
	}
}
