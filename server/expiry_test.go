package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/server/login"
)

// MA-4: a token that expires ends the connection that it opened, natively and in a dialect that closes as its document says, and only
// then.
func TestAnExpiredTokenEndsItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClosed(t)
		token, err := login.NewAuthenticator(nil, []byte("secret")).NewToken("ci", protocol.RoleOperator, time.Hour)
		must(t, err)
		native, _ := c.dial("", token)
		mine := native.pump()
		if r := result[protocol.HelloResult](native, mine.ask(protocol.DoHello, "", nil)); r.By.Subject != "ci" {
			t.Errorf("%+v", r.By)
		}
		house, _ := c.dial("", "house")
		theirs := house.pump()
		stranger := meet(t, c.http, "?token="+token)
		stranger.says(`{"type":"PING"}`)
		stranger.hears("PONG")
		over := make(chan error, 1)
		go func() {
			_, _, err := stranger.ws.Read(context.Background())
			over <- err
		}()
		time.Sleep(59 * time.Minute)
		if code := mine.closed(); code != 0 {
			t.Fatalf("closed with %d before its time", code)
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if code := mine.closed(); code != protocol.ClosePolicy {
			t.Errorf("closed with %d", code)
		}
		var closed websocket.CloseError
		if err := <-over; !errors.As(err, &closed) || closed.Code != protocol.ClosePolicy || closed.Reason != tokenExpired {
			t.Errorf("the dialect: %v", err)
		}
		if code := theirs.closed(); code != 0 {
			t.Errorf("who has the listener's token is closed with %d", code)
		}
		if conn, status := c.dial("", token); conn != nil || status != http.StatusUnauthorized {
			t.Errorf("comes in again: HTTP %d", status)
		}
	})
}

// A user's token holds a day.
func TestWhoLoggedInStaysADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClosed(t)
		_, said := c.login("the observer", "open sesame")
		conn, _ := c.dial("", said.Access_token)
		p := conn.pump()
		time.Sleep(24*time.Hour - time.Minute)
		if code := p.closed(); code != 0 {
			t.Errorf("closed with %d", code)
		}
		time.Sleep(2 * time.Minute)
		if code := p.closed(); code != protocol.ClosePolicy {
			t.Errorf("closed with %d", code)
		}
	})
}

// Events as SSE end with their credential, too.
func TestAnExpiredTokenEndsItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClosed(t)
		id := c.turn("few")
		token, err := login.NewAuthenticator(nil, []byte("secret")).NewToken("ci", protocol.RoleObserver, time.Minute)
		must(t, err)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server/api/sessions/"+id+"/events", nil)
		must(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := c.http.Do(req)
		must(t, err)
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("HTTP %d", resp.StatusCode)
		}
		began := time.Now()
		_, _ = io.Copy(io.Discard, resp.Body)
		if took := time.Since(began); took < 58*time.Second || took > 70*time.Second {
			t.Errorf("it ended after %s", took)
		}
	})
}
