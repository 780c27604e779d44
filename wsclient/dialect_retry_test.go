package wsclient

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/protocol/multiagent"
)

// serveMultiAgent serves Multi-Agent-Intelligence clients: it answers PING with PONG. It sends each
// accepted connection on the returned channel.
func (f *fakeServer) serveMultiAgent() <-chan *websocket.Conn {
	conns := make(chan *websocket.Conn, 16)
	f.setHandler(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			f.t.Error(err)
			return
		}
		defer ws.CloseNow()
		conns <- ws
		for {
			_, b, err := ws.Read(r.Context())
			if err != nil {
				return
			}
			if strings.Contains(string(b), "PING") &&
				ws.Write(r.Context(), websocket.MessageText, []byte(`{"type":"PONG"}`)) != nil {
				return
			}
		}
	})
	return conns
}

// dialSeconds returns the times of the dials after since, in seconds.
func (f *fakeServer) dialSeconds(since time.Time) (seconds []int) {
	for _, at := range f.dialTimes() {
		if at.After(since) {
			seconds = append(seconds, int(at.Sub(since)/time.Second))
		}
	}
	return seconds
}

// MA-19, MA-20: after a lost connection the client makes 5 attempts, 3 seconds apart or with
// doubling delays, then none until Retry. A success resets the count.
func TestAMultiAgentClientReconnectsAsDocumented(t *testing.T) {
	for _, strategy := range []struct {
		options map[string]string
		want    []int
	}{
		{nil, []int{3, 6, 9, 12, 15}},
		{map[string]string{"backoff": "exponential"}, []int{3, 9, 21, 45, 93}},
	} {
		o := Options{Dialect: multiagent.Name, DialectOptions: strategy.options, Heartbeat: time.Hour}
		withFakeServer(t, o, func(t *testing.T, f *fakeServer, c *Client) {
			conns := f.serveMultiAgent()
			c.Retry()
			synctest.Wait()
			for range 2 { // the second time shows that success resets the count
				ws := <-conns
				f.setDialError(errDown)
				_ = ws.CloseNow()
				lost := time.Now()
				time.Sleep(time.Hour)
				if got := f.dialSeconds(lost); !slices.Equal(got, strategy.want) {
					t.Errorf("%v: tried after %v seconds, want %v", strategy.options, got, strategy.want)
				}
				if s := c.State(); s.Phase != PhaseOffline || s.Err == nil {
					t.Errorf("%v: %+v", strategy.options, s)
				}
				f.setDialError(nil)
				c.Retry()
				synctest.Wait()
				if s := c.State(); s.Phase != PhaseOpen {
					t.Errorf("%v: after Retry, %+v", strategy.options, s)
				}
			}
			// A connection that succeeds before the last attempt resets the count.
			ws := <-conns
			f.setDialError(errDown)
			_ = ws.CloseNow()
			lost := time.Now()
			time.Sleep(time.Duration(strategy.want[2]+1) * time.Second)
			f.setDialError(nil)
			ws = <-conns
			synctest.Wait()
			if got := f.dialSeconds(lost); !slices.Equal(got, strategy.want[:4]) || c.State().Phase != PhaseOpen {
				t.Errorf("%v: %v, %+v", strategy.options, got, c.State())
			}
			// A refused client does not reconnect.
			before := len(f.dialTimes())
			_ = ws.Close(protocol.ClosePolicy, "auth failed")
			time.Sleep(time.Hour)
			if s := c.State(); s.Phase != PhaseOffline || len(f.dialTimes()) != before {
				t.Errorf("%v: refused, %+v", strategy.options, s)
			}
		})
	}
}

// MA-4, X-19: a server that accepts and closes with code 1008 refuses the client, natively and in
// the dialect.
func TestAcceptedAndClosedIsRefused(t *testing.T) {
	for _, dialect := range []string{"", multiagent.Name} {
		withFakeServer(t, Options{Dialect: dialect}, func(t *testing.T, f *fakeServer, c *Client) {
			f.setHandler(func(w http.ResponseWriter, r *http.Request) {
				ws, err := websocket.Accept(
					w, r, &websocket.AcceptOptions{Subprotocols: []string{protocol.Subprotocol}},
				)
				if err == nil {
					go func() { _, _, _ = ws.Read(r.Context()) }() // net.Pipe is unbuffered: a writer needs a reader
					_ = ws.Close(protocol.ClosePolicy, "auth failed: a valid token is needed")
				}
			})
			err := c.Connect(t.Context())
			var why *ConnectError
			if !errors.As(err, &why) || why.Code != protocol.CodeUnauthorized ||
				!strings.Contains(why.Error(), "a valid token is needed") {
				t.Errorf("%q: %v", dialect, err)
			}
			time.Sleep(time.Hour)
			if n := len(f.dialTimes()); n != 1 {
				t.Errorf("%q: tried %d times", dialect, n)
			}
		})
	}
}
