package screen

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentctl/internal/cli/connection"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/server/agent/script"
	"agentctl/server/embedded"
	"agentctl/tui/remote"
	"agentctl/wsclient"
)

// connectTo runs a server in this process with one script for all sessions, and connects to it.
func connectTo(t *testing.T, agent string) *wsclient.Client {
	t.Helper()
	c, _ := connectThrough(t, agent)
	return c
}

// A testDialer dials an embedded server. It can cut the connection and refuse the next ones.
type testDialer struct {
	dial func(context.Context) (net.Conn, error)

	mu     sync.Mutex
	refuse bool
	last   net.Conn
}

func (w *testDialer) Dial(ctx context.Context) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			if _, err := http.ReadRequest(bufio.NewReader(server)); err == nil {
				// the client may be gone
				_, _ = io.WriteString(server, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
			}
		}()
		return client, nil
	}
	conn, err := w.dial(ctx)
	w.last = conn
	return conn, err
}

// cut closes the connection; refuse sets whether the next ones are answered with 401.
func (w *testDialer) cut(refuse bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse = refuse
	if w.last != nil {
		_ = w.last.Close() // it may be closed already
	}
}

// fail closes the connection and makes dialling fail until restore is called.
func (w *testDialer) fail() (restore func()) {
	w.mu.Lock()
	dial := w.dial
	w.dial = func(context.Context) (net.Conn, error) { return nil, errors.New("connection refused") }
	w.mu.Unlock()
	w.cut(false)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.dial = dial
	}
}

// connectThrough is connectTo with the dialer of the connection.
func connectThrough(t *testing.T, agent string) (*wsclient.Client, *testDialer) {
	t.Helper()
	w := &testDialer{dial: embeddedDial(t, agent)}
	c := wsclient.New("ws://test", wsclient.Options{Dial: w.Dial, Name: "ann"})
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, w
}

// embeddedDial runs a server in this process until the end of the test and returns its dial
// function.
func embeddedDial(t testing.TB, agent string) func(context.Context) (net.Conn, error) {
	t.Helper()
	dial, end := serveIn(t, t.TempDir(), agent)
	t.Cleanup(end)
	return dial
}

// serveIn runs a server on a directory, with one script for all sessions, until end is called.
func serveIn(t testing.TB, dir, agent string) (dial func(context.Context) (net.Conn, error), end func()) {
	t.Helper()
	s, err := script.Parse("agent.script", strings.NewReader(agent))
	if err != nil {
		t.Fatal(err)
	}
	server, err := embedded.Start(t.Context(), embedded.Options{Agents: scriptAgents{s}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return server.Dialer("ws://" + embedded.Host), func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}
}

func create(t *testing.T, c *wsclient.Client) *Session {
	t.Helper()
	made, err := wsclient.Call[protocol.CreateResult](t.Context(), c, protocol.DoCreate, "",
		protocol.CreateData{Agent: "tour"})
	if err != nil {
		t.Fatal(err)
	}
	return &Session{Client: c, Session: made.Session}
}

// testContext returns a context that ends after a minute.
func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestAnOutageOfTheLocalServerAdvisesHowToStartIt(t *testing.T) {
	c := wsclient.New("ws://test", wsclient.Options{})
	defer c.Close()
	for url, want := range map[string]bool{
		"unix:///run/agentctl.sock":      true,
		"ws://127.0.0.1:7777/v1/ws":      true,
		"ws://localhost/v1/ws":           true,
		"ws://[::1]:7777/v1/ws":          true,
		"wss://agents.example.org/v1/ws": false,
		"ws://127.0.0.1:9000/chat":       false, // not agentctl
	} {
		err := &wsclient.ConnectError{URL: url, Err: io.EOF}
		l := linkState(c, wsclient.ConnState{Phase: wsclient.PhaseReconnecting, Attempt: 2, Err: err})
		if strings.Contains(l.Advice, "agentctl serve") != want {
			t.Errorf("while %s is unreachable: advice %q", url, l.Advice)
		}
		l = linkState(c, wsclient.ConnState{Phase: wsclient.PhaseOffline, Err: err})
		if !strings.Contains(l.Advice, "agentctl serve") {
			t.Errorf("after giving up %s: advice %q", url, l.Advice)
		}
	}
}

func TestTheSizeOfAPageIsAskedOnlyOfServersThatKnowIt(t *testing.T) {
	d := protocol.HistoryData{Before: 7, Limit: 3, Bytes: 1000}
	for limit, want := range map[int64]int64{0: 0, 500: 500, protocol.MaxHistory: 1000} {
		got := dataFor(protocol.Limits{HistoryBytes: limit}, d)
		if h, _ := got.(protocol.HistoryData); h.Bytes != want || h.Before != d.Before || h.Limit != d.Limit {
			t.Errorf("with a limit of %d: %+v", limit, got)
		}
	}
	if limit := connectTo(t, `{"on":"*"}`).Hello().Limits.HistoryBytes; limit != protocol.MaxHistory {
		t.Errorf("the server's limit is %d", limit)
	}
}

func TestAnUnsentMessageIsWithdrawn(t *testing.T) {
	t.Parallel()
	c, w := connectThrough(t, `{"on":"*"}`+"\n"+`{"say":"hi"}`)
	v := create(t, c)
	restore := w.fail()
	ctx := testContext(t)
	for s := range c.States(ctx) {
		if s.Phase == wsclient.PhaseReconnecting {
			break
		}
	}
	sent := make(chan error, 1)
	go func() {
		sent <- v.Do(ctx, protocol.DoSend, protocol.SendData{Text: "no", ClientMessageID: "mine"}, nil)
	}()
	for !v.Withdraw("mine") && ctx.Err() == nil {
		runtime.Gosched() // it is not waiting yet
	}
	if err := <-sent; !errors.Is(err, remote.ErrWithdrawn) {
		t.Fatalf("send ended with %v", err)
	}
	restore()
	c.Retry()
	var page protocol.HistoryResult
	if err := v.Do(ctx, protocol.DoHistory, protocol.HistoryData{}, &page); err != nil {
		t.Fatal(err)
	}
	var now protocol.SnapshotResult
	if err := v.Do(ctx, protocol.DoSnapshot, struct{}{}, &now); err != nil {
		t.Fatal(err)
	}
	if len(page.Events) > 0 || now.Snapshot.State.Turn != nil || len(now.Snapshot.State.Queue) > 0 {
		t.Errorf("the server received it: %+v, %+v", page, now.Snapshot.State)
	}
}

func TestTheScreenSeesTheConnectionAndTheSession(t *testing.T) {
	c := connectTo(t, `{"on":"*"}`+"\n"+`{"say":"hi"}`)
	v := create(t, c)
	var connected *remote.Conn
	var attached *protocol.SubscribeResult
	var types []protocol.Type
	for u := range v.Updates(testContext(t)) {
		switch {
		case u.Conn != nil && u.Conn.State == remote.Connected:
			connected = u.Conn
		case u.Attached != nil:
			attached = u.Attached
			if err := v.Do(t.Context(), protocol.DoSend, protocol.SendData{Text: "x"}, nil); err != nil {
				t.Fatal(err)
			}
		case u.Event != nil && u.Event.Durable():
			types = append(types, u.Event.Type)
		}
		if len(types) > 0 && types[len(types)-1] == protocol.TurnEnded {
			break
		}
	}
	if connected == nil || connected.Connection == "" || connected.By.Name != "ann" {
		t.Errorf("connected as %+v", connected)
	}
	if attached == nil || attached.Snapshot == nil {
		t.Errorf("attached with %+v", attached)
	}
	if len(types) < 4 || types[len(types)-1] != protocol.TurnEnded {
		t.Errorf("saw %v", types)
	}
}

func TestTheLastUpdateIsThatTheSessionIsGone(t *testing.T) {
	c := connectTo(t, `{"on":"*"}`+"\n"+`{"say":"hi"}`)
	v := &Session{Client: c, Session: "nope"}
	var last remote.Update
	for u := range v.Updates(testContext(t)) {
		last = u
	}
	if last.Conn == nil || last.Conn.State != remote.Offline || !strings.Contains(last.Conn.Reason, "nope") {
		t.Errorf("last %+v", last.Conn)
	}
}

func TestARefusedScreenAdvisesAndContinuesAfterRetry(t *testing.T) {
	t.Parallel()
	c, w := connectThrough(t, `{"on":"*"}`+"\n"+`{"say":"hi"}`)
	v := create(t, c)
	var yielded []string
	for u := range v.Updates(testContext(t)) {
		switch {
		case u.Conn != nil && u.Conn.State == remote.Offline:
			yielded = append(yielded, "offline")
			if !strings.Contains(u.Conn.Reason, "401") || !strings.Contains(u.Conn.Advice, "--token") {
				t.Errorf("offline as %+v", u.Conn)
			}
			w.cut(false)
			v.Retry()
		case u.Attached != nil:
			yielded = append(yielded, u.Attached.Mode)
			if len(yielded) == 1 {
				w.cut(true)
			}
		}
		if len(yielded) == 3 {
			break
		}
	}
	if want := []string{protocol.ModeSnapshot, "offline", protocol.ModeResume}; !slices.Equal(yielded, want) {
		t.Errorf("yielded %v, want %v", yielded, want)
	}
}

func TestLeavingARefusedScreenReturnsTheReason(t *testing.T) {
	t.Parallel()
	c, w := connectThrough(t, `{"on":"*"}`+"\n"+`{"say":"hi"}`)
	l := connection.New(testContext(t), c, true)
	if err := LeaveError(l, nil); err != nil {
		t.Errorf("leaving an open connection is %v", err)
	}
	w.cut(true)
	<-l.Done
	err := LeaveError(l, nil)
	if e := exit.From(err); e.Status != exit.Forbidden || e.Hint == "" {
		t.Errorf("left with %v, exit %d, %q", err, e.Status, e.Hint)
	}
	l.Close()
}

func TestARefusedDashboardContinuesAfterRetry(t *testing.T) {
	t.Parallel()
	c, w := connectThrough(t, `{"on":"*"}`+"\n"+`{"say":"hi"}`)
	gone, stays := create(t, c), create(t, c)
	ctx := testContext(t)
	var yielded []string
	for s, err := range (Server{Client: c}).Watch(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case s.Deleted:
			yielded = append(yielded, "gone "+s.Session)
		default:
			yielded = append(yielded, s.Session)
		}
		if len(yielded) == 4 {
			break
		}
		if len(yielded) != 2 {
			continue
		}
		w.cut(true)
		for now := range c.States(ctx) {
			if now.Phase == wsclient.PhaseOffline {
				break
			}
		}
		w.cut(false)
		c.Retry()
		if err := gone.Do(ctx, protocol.DoClose, protocol.CloseData{Delete: true}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"gone " + gone.Session, stays.Session}; len(yielded) != 4 || !slices.Equal(yielded[2:], want) {
		t.Errorf("yielded %v, want %v at the end", yielded, want)
	}
}

func TestTheScreenExportsTheSession(t *testing.T) {
	c := connectTo(t, `{"on":"*"}`+"\n"+`{"say":"the answer","words":1}`)
	made, err := wsclient.Call[protocol.CreateResult](t.Context(), c, protocol.DoCreate, "",
		protocol.CreateData{Name: "fix", Prompt: "the question"})
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{Client: c, Session: made.Session}
	for u := range s.UpdatesSince(t.Context(), protocol.Position{}) {
		if u.Event != nil && u.Event.Type == protocol.TurnEnded {
			break
		}
	}
	for _, format := range s.ExportFormats() {
		b, err := s.Export(t.Context(), format)
		for _, want := range []string{"the question", "answer"} {
			if err != nil || !strings.Contains(string(b), want) {
				t.Errorf("%s lacks %q: %v\n%s", format, want, err, b)
			}
		}
	}
	if _, err := s.Export(t.Context(), "pdf"); err == nil {
		t.Error("there is no format pdf")
	}
}

// The screen has the deltas of another machine's server joined, and the deltas of this machine's as
// they come.
func TestTheScreenJoinsDeltasOfARemoteServer(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{"ws://box": `{"fold_ms":100}`, "ws://127.0.0.1": `{}`} {
		var mu sync.Mutex
		var subscribed string
		c := wsclient.New(url, wsclient.Options{
			Dial: embeddedDial(t, `{"on":"*"}`+"\n"+`{"say":"answer"}`),
			OnFrame: func(f wsclient.Frame) {
				mu.Lock()
				defer mu.Unlock()
				for line := range protocol.Lines(f.Data) {
					cmd, err := protocol.DecodeCommand(line)
					if f.Sent && err == nil && cmd.Command == protocol.DoSubscribe {
						subscribed = string(cmd.Data)
					}
				}
			},
		})
		ctx, cancel := context.WithCancel(testContext(t))
		for u := range create(t, c).Updates(ctx) {
			if u.Attached != nil {
				cancel()
			}
		}
		cancel()
		_ = c.Close()
		mu.Lock()
		if subscribed != want {
			t.Errorf("%s: subscribed with %s, want %s", url, subscribed, want)
		}
		mu.Unlock()
	}
}

// scriptAgents are agents of any name that play one script.
type scriptAgents struct{ *script.Script }

func (scriptAgents) Names() []string { return []string{"tour"} }
