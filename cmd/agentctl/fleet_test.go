package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/wsclient"
)

// A frail line is a way to a server that can be cut.
type frail struct {
	dial func(context.Context) (net.Conn, error)
	mu   sync.Mutex
	conn net.Conn
}

func (f *frail) Dial(ctx context.Context) (net.Conn, error) {
	c, err := f.dial(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conn = c
	return c, err
}

func (f *frail) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.conn.Close()
}

// paper keeps what a screen wrote.
type paper struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *paper) has(words string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(p.out.String(), words)
}

// A dashboard is the program on a real server, and somebody else who looks at that.
type dashboard struct {
	t     *testing.T
	ctx   context.Context
	other *wsclient.Client
	line  *frail
	keys  io.Writer
	paper *paper
}

// openDashboard shows the sessions of those names.
func openDashboard(t *testing.T, names ...string) *dashboard {
	t.Helper()
	dial := embeddedDial(t, `{"on":"*"}`+"\n"+`{"say":"answer to {message}"}`)
	d := &dashboard{t: t, ctx: patient(t), line: &frail{dial: dial}, paper: &paper{}}
	d.other = wsclient.New("ws://test", wsclient.Options{Dial: dial, Name: "bob"})
	mine := wsclient.New("ws://test", wsclient.Options{Dial: d.line.Dial, Name: "ann", Rand: func() float64 { return 0 }})
	for _, name := range names {
		if _, err := wsclient.Call[protocol.CreateResult](d.ctx, d.other, protocol.DoCreate, "", protocol.CreateData{Agent: "tour", Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	if err := mine.Connect(d.ctx); err != nil {
		t.Fatal(err)
	}
	keys, typing := io.Pipe()
	d.keys = typing
	ctx, leave := context.WithTimeout(context.Background(), time.Minute) // not the test's, which ends while keys are on their way
	ended := make(chan error, 1)
	go func() {
		ended <- tui.RunDashboard(ctx, fleet{client: mine}, "", tui.Options{Input: keys, Output: d.paper, Env: []string{"TERM=xterm-256color"}, NoColor: true, Size: tui.Size{Width: 100, Height: 30}})
	}()
	t.Cleanup(func() {
		var left sync.WaitGroup
		left.Go(func() { _, _ = io.WriteString(typing, "\x03\x03") }) // after all keys before, which may be on their way
		if err := <-ended; err != nil {
			t.Error(err)
		}
		leave()
		_ = typing.Close()
		left.Wait()
		_, _ = mine.Close(), d.other.Close()
	})
	return d
}

// until waits for something to be so.
func (d *dashboard) until(what string, so func() bool) {
	d.t.Helper()
	for !so() {
		if _, err := wsclient.Call[protocol.Empty](d.ctx, d.other, protocol.DoPing, "", nil); err != nil {
			d.t.Fatalf("waiting until %s: %v", what, err)
		}
	}
}

func (d *dashboard) press(keys string) {
	d.t.Helper()
	if _, err := io.WriteString(d.keys, keys); err != nil {
		d.t.Fatal(err)
	}
}

// enter opens the session of a name, from another one or from all.
func (d *dashboard) enter(name string, first bool) {
	d.t.Helper()
	if !first {
		d.press("\x1bOQ")
	}
	d.press("/" + strings.Repeat("\x7f", 16) + name + "\r\r") // instead of the words before
	d.until("the screen is attached to "+name, func() bool { return d.attached(name) != "" })
}

// attached is the connection by which the screen follows a session, or "".
func (d *dashboard) attached(name string) string {
	d.t.Helper()
	r, err := wsclient.Call[protocol.SnapshotResult](d.ctx, d.other, protocol.DoSnapshot, name, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	i := slices.IndexFunc(r.Clients, func(c protocol.Client) bool { return c.By.Name == "ann" })
	if i < 0 {
		return ""
	}
	return r.Clients[i].Client
}

func TestADroppedLinkSubscribesTheThreeThatWereAndNoOther(t *testing.T) {
	d := openDashboard(t, "alpha", "bravo", "charlie", "delta")
	d.until("all sessions are there", func() bool { return d.paper.has("delta") && d.paper.has("alpha") })
	for i, name := range []string{"alpha", "bravo", "charlie", "delta"} {
		d.enter(name, i == 0)
	}
	kept := []string{"bravo", "charlie", "delta"}
	d.until("the one shown longest ago is given up", func() bool { return d.attached("alpha") == "" })
	before := d.attached("delta")
	for _, name := range kept {
		if d.attached(name) != before {
			t.Fatalf("%s is not followed", name)
		}
	}

	d.line.cut()
	words := func(i int) string { return strings.Repeat(string(rune('1'+i)), 9) } // of which no cell is like another's
	for i, name := range kept {
		if _, err := wsclient.Call[protocol.SendResult](d.ctx, d.other, protocol.DoSend, name, protocol.SendData{Text: words(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range kept {
		d.until(name+" is followed again", func() bool { c := d.attached(name); return c != "" && c != before })
	}
	if d.attached("alpha") != "" {
		t.Error("the one that was given up is followed again")
	}
	for i, name := range kept {
		d.enter(name, false)
		d.until("what was missed in "+name+" shows", func() bool { return d.paper.has(words(i)) })
	}
}

func TestADashboardCreatesASessionAndShowsIt(t *testing.T) {
	d := openDashboard(t)
	d.until("it says what to do", func() bool { return d.paper.has("There is no session yet") })
	d.press("nfresh\ttour\t\tgood day\r")
	var all protocol.ListResult
	d.until("it is there", func() bool {
		var err error
		if all, err = wsclient.Call[protocol.ListResult](d.ctx, d.other, protocol.DoList, "", nil); err != nil {
			t.Fatal(err)
		}
		return len(all.Sessions) == 1
	})
	if s := all.Sessions[0]; s.Name != "fresh" || s.Agent != "tour" {
		t.Errorf("made %+v", s)
	}
	d.until("it is on the screen", func() bool { return d.attached("fresh") != "" && d.paper.has("answer to good day") })
}
