package wsclient

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/protocol/multiagent"
)

// A socket notes that it was closed.
type socket struct {
	net.Conn
	closed atomic.Bool
}

func (c *socket) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}

// helloAnswers are the server's first messages, for protocols that need one.
var helloAnswers = map[string]string{"": `{"id":"hello","result":{}}`, multiagent.Name: `{"type":"PONG"}`}

// closingClient returns a connected client, its socket and the server's end, which reads nothing.
func closingClient(
	t *testing.T, f *fakeServer, dialectName string, onFrame func(Frame),
) (*Client, *socket, *websocket.Conn) {
	t.Helper()
	accepted, over := make(chan *websocket.Conn, 1), make(chan struct{})
	t.Cleanup(func() { close(over) })
	f.setHandler(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{protocol.Subprotocol}})
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.CloseNow()
		if answer := helloAnswers[dialectName]; answer != "" {
			_, _, _ = ws.Read(context.Background())
			_ = ws.Write(context.Background(), websocket.MessageText, []byte(answer))
		}
		accepted <- ws
		<-over
	})
	var opened *socket
	c := New("ws://server", Options{
		Dialect: dialectName, Name: "ada", Heartbeat: time.Hour, OnFrame: onFrame,
		Dial: func(ctx context.Context) (net.Conn, error) {
			raw, err := f.dial(ctx)
			if err != nil {
				return nil, err
			}
			opened = &socket{Conn: raw}
			return opened, nil
		},
	})
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, opened, <-accepted
}

// followPhases collects the phases of a client from now on. The channel yields them once the client
// is closed.
func followPhases(t *testing.T, c *Client) <-chan []Phase {
	result := make(chan []Phase, 1)
	go func() {
		var phases []Phase
		for s := range c.States(t.Context()) {
			phases = append(phases, s.Phase)
		}
		result <- phases
	}()
	synctest.Wait()
	return result
}

// EA-5: after Close the client is closing until the socket is closed and its goroutines have
// ended.
func TestAClientIsClosingUntilItsSocketIsClosed(t *testing.T) {
	for _, name := range protocols() {
		t.Run("dialect "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeServer(t)
				defer f.close()
				c, used, _ := closingClient(t, f, name, nil)
				phases, began := followPhases(t, c), time.Now()
				go c.Close()
				synctest.Wait()
				if s := c.State(); s.Phase != PhaseClosing || s.Err == nil { // the server does not answer the close
					t.Errorf("after Close: %+v", s)
				}
				got := <-phases
				if want := []Phase{PhaseOpen, PhaseClosing, PhaseClosed}; !slices.Equal(got, want) {
					t.Errorf("phases %v, want %v", got, want)
				}
				if took := time.Since(began); took == 0 || took > closeTimeout {
					t.Errorf("closed after %v", took)
				}
				if !used.closed.Load() {
					t.Error("closed, and the socket is open")
				}
			})
		})
	}
}

// EA-5: a close by the server is a separate phase. Then the client reconnects.
func TestAConnectionThatTheServerClosesIsClosing(t *testing.T) {
	for _, name := range protocols() {
		t.Run("dialect "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeServer(t)
				defer f.close()
				var c *Client
				var atEnd []Phase
				c, _, ws := closingClient(t, f, name, func(frame Frame) {
					if strings.HasPrefix(frame.Note, "not connected") {
						atEnd = append(atEnd, c.State().Phase)
					}
				})
				defer c.Close()
				go func() { // net.Pipe is unbuffered: a writer needs a reader
					for {
						if _, _, err := ws.Read(context.Background()); err != nil {
							return
						}
					}
				}()
				synctest.Wait()
				f.setDialError(errDown)
				_ = ws.Close(websocket.StatusGoingAway, "restart")
				synctest.Wait()
				if want := []Phase{PhaseClosing}; !slices.Equal(atEnd, want) {
					t.Errorf("at the end of the connection: %v, want %v", atEnd, want)
				}
				if s := c.State(); s.Phase != PhaseReconnecting && s.Phase != PhaseConnecting || s.RetryAt.IsZero() {
					t.Errorf("after the end: %+v", s)
				}
			})
		})
	}
}

// EA-5: closing lasts until both goroutines of the connection have ended. Connect waits for the
// next connection.
func TestClosingLastsUntilTheGoroutinesHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeServer(t)
		defer f.close()
		release := make(chan struct{})
		c := f.client(Options{OnFrame: func(frame Frame) {
			if strings.Contains(string(frame.Data), `"command":"list"`) {
				<-release // holds the goroutine that writes
			}
		}})
		defer c.Close()
		c.Retry()
		p := f.acceptHello()
		listed := make(chan error, 1)
		go func() { listed <- c.Do(t.Context(), protocol.Command{Command: protocol.DoList}, nil) }()
		synctest.Wait()
		_ = p.ws.Close(websocket.StatusGoingAway, "restart")
		synctest.Wait()
		connected := make(chan error, 1)
		go func() { connected <- c.Connect(t.Context()) }()
		time.Sleep(time.Hour)
		if s := c.State(); s.Phase != PhaseClosing || len(connected) > 0 || len(f.dialTimes()) != 1 {
			t.Errorf("while a goroutine is left: %+v, %d connected, %d dials", s, len(connected), len(f.dialTimes()))
		}
		close(release)
		p = f.acceptHello()
		if err := <-connected; err != nil || c.State().Phase != PhaseOpen {
			t.Errorf("after the end: %v, %+v", err, c.State())
		}
		p.answer(p.nextCommand(protocol.DoList), protocol.ListResult{})
		if err := <-listed; err != nil {
			t.Error(err)
		}
	})
}

// EA-5: a connection that the client drops is closing, with the reason.
func TestAConnectionThatIsGivenUpIsClosing(t *testing.T) {
	var client *Client
	var atEnd []ConnState
	options := Options{Heartbeat: time.Second, OnFrame: func(frame Frame) {
		if strings.HasPrefix(frame.Note, "not connected") {
			atEnd = append(atEnd, client.State())
		}
	}}
	withFakeServer(t, options, func(t *testing.T, f *fakeServer, c *Client) {
		client = c
		c.Retry()
		p := f.nextConn()
		p.ignorePings = true
		p.answerHello()
		f.setDialError(errDown)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if len(atEnd) == 0 || atEnd[0].Phase != PhaseClosing || atEnd[0].Err != errNoPong {
			t.Errorf("at the end of the connection: %+v", atEnd)
		}
	})
}

// EA-5: a client that is closed during an attempt waits for the attempt, and is never open.
func TestAnAttemptIsClosedWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeServer(t)
		defer f.close()
		release := make(chan struct{})
		c := f.client(Options{OnFrame: func(frame Frame) {
			if strings.Contains(string(frame.Data), `"command":"hello"`) {
				<-release // holds the attempt
			}
		}})
		c.Retry()
		f.nextConn()
		phases := followPhases(t, c)
		go c.Close()
		synctest.Wait()
		if s := c.State(); s.Phase != PhaseClosing {
			t.Errorf("while the attempt is left: %+v", s)
		}
		close(release)
		if got, want := <-phases, []Phase{PhaseConnecting, PhaseClosing, PhaseClosed}; !slices.Equal(got, want) {
			t.Errorf("phases %v, want %v", got, want)
		}
	})
}
