package main

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

	"agentctl/tui/remote"

	"agentctl/protocol"
	"agentctl/server"
	"agentctl/server/agent/script"
	"agentctl/server/session"
	"agentctl/server/sqlite"
	"agentctl/wsclient"
)

// connected runs a server in this process with one script for all sessions, and connects to it.
func connected(t *testing.T, agent string) *wsclient.Client {
	t.Helper()
	c, _ := reached(t, agent)
	return c
}

// A wire is how an embedded server is reached: it can be cut, and refuse.
type wire struct {
	dial func(context.Context) (net.Conn, error)

	mu      sync.Mutex
	refuses bool
	last    net.Conn
}

func (w *wire) Dial(ctx context.Context) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuses {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			if _, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
				_, _ = io.WriteString(theirs, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n") // the client may be gone
			}
		}()
		return ours, nil
	}
	conn, err := w.dial(ctx)
	w.last = conn
	return conn, err
}

// cut ends the connection; refuse says what becomes of the next ones.
func (w *wire) cut(refuse bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuses = refuse
	if w.last != nil {
		_ = w.last.Close() // what is cut may be closed already
	}
}

// fail ends the connection and lets none come about, until the function returned is called.
func (w *wire) fail() (restore func()) {
	w.mu.Lock()
	dial := w.dial
	w.dial = func(context.Context) (net.Conn, error) { return nil, errors.New("nobody listens") }
	w.mu.Unlock()
	w.cut(false)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.dial = dial
	}
}

// reached is connected with the wire between the two.
func reached(t *testing.T, agent string) (*wsclient.Client, *wire) {
	t.Helper()
	w := &wire{dial: embeddedDial(t, agent)}
	c := wsclient.New("ws://test", wsclient.Options{Dial: w.Dial, Name: "ann"})
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, w
}

// embeddedDial is the way to a server in this process, which ends with the test.
func embeddedDial(t *testing.T, agent string) func(context.Context) (net.Conn, error) {
	t.Helper()
	dial, end := serveIn(t, t.TempDir(), agent)
	t.Cleanup(end)
	return dial
}

// serveIn runs a server with one script for all sessions on what a directory holds, until end is called.
func serveIn(t *testing.T, dir, agent string) (dial func(context.Context) (net.Conn, error), end func()) {
	t.Helper()
	s, err := script.Parse("agent.script", strings.NewReader(agent))
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(t.Context(), server.Config{Session: session.Config{Store: store, Agents: tourAgents{s}}})
	if err != nil {
		t.Fatal(err)
	}
	pipe := server.NewPipe()
	i := &instance{store: store, server: srv, listeners: []*server.Listener{pipe.Listener}}
	ctx, cancel := context.WithCancel(context.Background())
	var served sync.WaitGroup
	served.Go(func() {
		if err := i.serve(ctx, 0); err != nil {
			t.Error(err)
		}
	})
	return pipe.Dial, func() {
		cancel()
		served.Wait()
		if err := i.close(); err != nil {
			t.Error(err)
		}
	}
}

func create(t *testing.T, c *wsclient.Client) *view {
	t.Helper()
	made, err := wsclient.Call[protocol.CreateResult](t.Context(), c, protocol.DoCreate, "", protocol.CreateData{Agent: "tour"})
	if err != nil {
		t.Fatal(err)
	}
	return &view{client: c, session: made.Session}
}

// patient is a context that ends before the test's patience does.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestAnOutageOfOnesOwnServerSaysHowToStartIt(t *testing.T) {
	c := wsclient.New("ws://test", wsclient.Options{})
	defer c.Close()
	for url, says := range map[string]bool{
		"unix:///run/agentctl.sock":      true,
		"ws://127.0.0.1:7777/v1/ws":      true,
		"ws://localhost/v1/ws":           true,
		"ws://[::1]:7777/v1/ws":          true,
		"wss://agents.example.org/v1/ws": false,
		"ws://127.0.0.1:9000/chat":       false, // of another kind
	} {
		err := &wsclient.ConnectError{URL: url, Err: io.EOF}
		if l := linkOf(c, wsclient.ConnState{Phase: wsclient.PhaseReconnecting, Attempt: 2, Err: err}); strings.Contains(l.Advice, "agentctl serve") != says {
			t.Errorf("while %s is away the screen says %q", url, l.Advice)
		}
		if l := linkOf(c, wsclient.ConnState{Phase: wsclient.PhaseOffline, Err: err}); !strings.Contains(l.Advice, "agentctl serve") {
			t.Errorf("once %s is given up the screen says %q", url, l.Advice)
		}
	}
}

func TestAMessageThatWaitsForTheServerIsTakenBack(t *testing.T) {
	c, w := reached(t, `{"on":"*"}`+"\n"+`{"say":"hi"}`)
	v := create(t, c)
	restore := w.fail()
	ctx := patient(t)
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
		t.Fatalf("it ended with %v", err)
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
		t.Errorf("the server has it: %+v, %+v", page, now.Snapshot.State)
	}
}

func TestTheScreenSeesTheConnectionAndTheSession(t *testing.T) {
	c := connected(t, `{"on":"*"}`+"\n"+`{"say":"hi"}`)
	v := create(t, c)
	var connected *remote.Conn
	var attached *protocol.SubscribeResult
	var types []protocol.Type
	for u := range v.Updates(patient(t)) {
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

func TestTheScreenIsToldLastThatTheSessionIsGone(t *testing.T) {
	c := connected(t, `{"on":"*"}`+"\n"+`{"say":"hi"}`)
	v := &view{client: c, session: "nope"}
	var last remote.Update
	for u := range v.Updates(patient(t)) {
		last = u
	}
	if last.Conn == nil || last.Conn.State != remote.Offline || !strings.Contains(last.Conn.Reason, "nope") {
		t.Errorf("last %+v", last.Conn)
	}
}

func TestARefusedScreenSaysWhatToDoAndGoesOnWhenAsked(t *testing.T) {
	c, w := reached(t, `{"on":"*"}`+"\n"+`{"say":"hi"}`)
	v := create(t, c)
	var told []string
	for u := range v.Updates(patient(t)) {
		switch {
		case u.Conn != nil && u.Conn.State == remote.Offline:
			told = append(told, "offline")
			if !strings.Contains(u.Conn.Reason, "401") || !strings.Contains(u.Conn.Advice, "--token") {
				t.Errorf("offline as %+v", u.Conn)
			}
			w.cut(false)
			v.Retry()
		case u.Attached != nil:
			told = append(told, u.Attached.Mode)
			if len(told) == 1 {
				w.cut(true)
			}
		}
		if len(told) == 3 {
			break
		}
	}
	if want := []string{protocol.ModeSnapshot, "offline", protocol.ModeResume}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

func TestWhoLeavesARefusedScreenIsToldWhy(t *testing.T) {
	c, w := reached(t, `{"on":"*"}`+"\n"+`{"say":"hi"}`)
	l := newLink(patient(t), c, true)
	if err := l.parted(nil); err != nil {
		t.Errorf("leaving an open connection is %v", err)
	}
	w.cut(true)
	<-l.done
	err := l.parted(nil)
	if f := faultOf(err); f.exit != exitForbidden || f.hint == "" {
		t.Errorf("left with %v, exit %d, %q", err, f.exit, f.hint)
	}
	l.Close()
}

func TestARefusedDashboardGoesOnWhenAsked(t *testing.T) {
	c, w := reached(t, `{"on":"*"}`+"\n"+`{"say":"hi"}`)
	gone, stays := create(t, c), create(t, c)
	ctx := patient(t)
	var told []string
	for s, err := range (fleet{client: c}).Watch(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case s.Deleted:
			told = append(told, "gone "+s.Session)
		default:
			told = append(told, s.Session)
		}
		if len(told) == 4 {
			break
		}
		if len(told) != 2 {
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
	if want := []string{"gone " + gone.session, stays.session}; len(told) != 4 || !slices.Equal(told[2:], want) {
		t.Errorf("told %v, want %v at last", told, want)
	}
}

func TestTheGuideExplainsAllowsAndEndsTheSession(t *testing.T) {
	c := connected(t, `{"on":"*"}`+"\n"+`{"ask":"command","title":"List","command":"ls","explain":"why not","then":[{"say":"done"}]}`)
	g := &guide{view: create(t, c), turns: 1}
	if err := g.Do(t.Context(), protocol.DoSend, protocol.SendData{Text: "x"}, nil); err != nil {
		t.Fatal(err)
	}
	var types []protocol.Type
	for u := range g.Updates(patient(t)) {
		if u.Event == nil {
			continue
		}
		types = append(types, u.Event.Type)
		if u.Event.Type == protocol.SessionClosed {
			break
		}
	}
	for _, want := range []protocol.Type{protocol.ApprovalExplained, protocol.ApprovalResolved, protocol.TurnEnded, protocol.SessionClosed} {
		if !slices.Contains(types, want) {
			t.Errorf("no %s in %v", want, types)
		}
	}
	if g.err != nil {
		t.Error(g.err)
	}
}
