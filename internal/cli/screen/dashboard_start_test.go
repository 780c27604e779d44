package screen

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/wsclient"
)

// BenchmarkDashboardStart takes the time from the connection to the newest session on the terminal.
// With 1,000 sessions it must be less than 100 ms more than with one.
func BenchmarkDashboardStart(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newServerOfSessions(b, n)
			for b.Loop() {
				s.startDashboard(b)
			}
		})
	}
}

// The start of the dashboard sends as many bytes to a server with many sessions as with one, and
// gets no more than the list: it asks for nothing of each session.
func TestTheDashboardStartsWithManySessionsAsWithOne(t *testing.T) {
	t.Parallel()
	const sessions, summary = 200, 2 << 10 // bytes of a summary at most
	one, many := newServerOfSessions(t, 1), newServerOfSessions(t, sessions)
	sentOne, gotOne := one.startDashboard(t)
	sentMany, gotMany := many.startDashboard(t)
	if sentMany > 2*sentOne || gotMany > gotOne+sessions*summary {
		t.Errorf("sent %d bytes and got %d with one session, %d and %d with %d",
			sentOne, gotOne, sentMany, gotMany, sessions)
	}
}

// A serverOfSessions is a server with sessions.
type serverOfSessions struct {
	dial   func(context.Context) (net.Conn, error)
	newest string // name of a session
}

func newServerOfSessions(t testing.TB, n int) *serverOfSessions {
	t.Helper()
	s := &serverOfSessions{dial: embeddedDial(t, `{"on":"*"}`+"\n"+`{"say":"answer"}`)}
	c := wsclient.New("ws://test", wsclient.Options{Dial: s.dial})
	defer c.Close()
	for i := range n {
		s.newest = fmt.Sprint("name-", i)
		_, err := wsclient.Call[protocol.CreateResult](t.Context(), c, protocol.DoCreate, "",
			protocol.CreateData{Agent: "tour", Name: s.newest})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// startDashboard connects, shows the dashboard until the newest session is on the terminal, and
// returns the bytes sent and received until then.
func (s *serverOfSessions) startDashboard(t testing.TB) (sent, got int64) {
	t.Helper()
	ctx, leave := context.WithCancel(testContext(t))
	var read, written atomic.Int64
	c := wsclient.New("ws://test", wsclient.Options{Dial: func(ctx context.Context) (net.Conn, error) {
		conn, err := s.dial(ctx)
		return countedConn{conn, &read, &written}, err
	}})
	defer c.Close()
	if err := c.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	keys, typing := io.Pipe()
	defer typing.Close()
	screen := &awaitedText{text: []byte(s.newest), shown: make(chan struct{})}
	left := make(chan error, 1)
	go func() {
		left <- tui.RunDashboard(ctx, Server{Client: c}, "", tui.Options{
			Input: keys, Output: screen,
			Env: []string{"TERM=xterm-256color"}, NoColor: true, Size: tui.Size{Width: 100, Height: 30},
		})
	}()
	select {
	case <-screen.shown:
	case <-ctx.Done():
		t.Error("the newest session is not on the terminal")
	}
	sent, got = written.Load(), read.Load()
	leave()
	if err := <-left; err != nil {
		t.Error(err)
	}
	return sent, got
}

// awaitedText is a terminal that waits for a text. Only one goroutine may write to it.
type awaitedText struct {
	text, out []byte
	shown     chan struct{} // closed when the text was written
}

func (a *awaitedText) Write(p []byte) (int, error) {
	before := bytes.Contains(a.out, a.text)
	a.out = append(a.out, p...)
	if !before && bytes.Contains(a.out, a.text) {
		close(a.shown)
	}
	return len(p), nil
}
