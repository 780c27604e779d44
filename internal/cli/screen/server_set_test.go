package screen

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"agentctl/internal/dev/verbtest"
	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/tui/serverset"
	"agentctl/wsclient"
)

// A stoppable is an embedded server that is stopped and started again on the same directory.
type stoppable struct {
	t   *testing.T
	dir string

	mu   sync.Mutex
	dial func(context.Context) (net.Conn, error) // nil while stopped
	end  func()
}

// start starts the server.
func (s *stoppable) start() {
	s.t.Helper()
	dial, end := serveIn(s.t, s.dir, `{"on":"*"}`+"\n"+`{"say":"answer to {message}"}`)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dial, s.end = dial, end
}

// stop stops the server. Later dials fail.
func (s *stoppable) stop() {
	s.mu.Lock()
	s.dial = nil
	s.mu.Unlock()
	s.end()
}

// Dial connects to the server if it runs.
func (s *stoppable) Dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	dial := s.dial
	s.mu.Unlock()
	if dial == nil {
		return nil, errors.New("connection refused")
	}
	return dial(ctx)
}

func TestADashboardFollowsAServerThatIsStoppedAndStarted(t *testing.T) {
	t.Parallel()
	const agent = `{"on":"*"}` + "\n" + `{"say":"answer to {message}"}`
	ctx := testContext(t)
	home := embeddedDial(t, agent)
	box := &stoppable{t: t, dir: t.TempDir()}
	box.start()
	t.Cleanup(func() { box.end() })
	create := func(dial func(context.Context) (net.Conn, error), name string) *wsclient.Client {
		c := wsclient.New("ws://test", wsclient.Options{Dial: dial, Name: "bob"})
		t.Cleanup(func() { _ = c.Close() })
		data := protocol.CreateData{Agent: "tour", Name: name}
		if _, err := wsclient.Call[protocol.CreateResult](ctx, c, protocol.DoCreate, "", data); err != nil {
			t.Fatal(err)
		}
		return c
	}
	client := func(dial func(context.Context) (net.Conn, error)) Server {
		c := wsclient.New("ws://test", wsclient.Options{Dial: dial, Name: "ann"})
		t.Cleanup(func() { _ = c.Close() })
		return Server{Client: c}
	}
	d := &dashboardTest{t: t, ctx: ctx, screen: &verbtest.Screen{}, other: create(home, "at-home")}
	there := create(box.Dial, "at-box")
	set := serverset.New(
		serverset.Member{Name: "local", Server: client(home)}, serverset.Member{Name: "box", Server: client(box.Dial)})
	keys, typing := io.Pipe()
	d.keys = typing
	screen, leave := context.WithTimeout(context.Background(), time.Minute)
	done := make(chan error, 1)
	go func() {
		done <- tui.RunDashboard(screen, set, "", tui.Options{
			Input: keys, Output: d.screen,
			Env: []string{"TERM=xterm-256color"}, NoColor: true, Size: dashboardSize,
		})
	}()
	t.Cleanup(func() {
		leave()
		_ = typing.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	d.until("both sessions are shown", func() bool { return d.shows("at-home") && d.shows("at-box") })

	d.press("/at-box\r")
	box.stop()
	d.until("the lost server is named", func() bool { return d.shows("box as of ") })
	d.press("e")
	d.until("the rename is refused", func() bool { return d.shows("box is not connected: ") })

	box.start()
	attached := func() bool {
		r, err := wsclient.Call[protocol.SnapshotResult](ctx, there, protocol.DoSnapshot, "at-box", nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Clients {
			if r.Clients[i].By.Name == "ann" {
				return true
			}
		}
		return false
	}
	d.press("\x1b[15~") // F5: connects now
	d.until("the session of the server that is back is shown", func() bool {
		d.press("\r")                                // opens; in the session it sends nothing
		return attached() && d.shows("Message tour") // not only its preview
	})
	if _, err := wsclient.Call[protocol.SendResult](ctx, there, protocol.DoSend, "at-box",
		protocol.SendData{Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	d.until("the session continues", func() bool { return d.shows("answer to hello") })
}
