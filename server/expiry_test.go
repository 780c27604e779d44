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

// MA-4: the expiry of a token ends the connections made with it, native and of a dialect, and no
// others.
func TestAnExpiredTokenEndsItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newProtectedServer(t)
		token := madeToken(t, login.TokenRequest{Role: protocol.RoleOperator, TTL: time.Hour})
		native, _ := c.dial("", token)
		mine := native.collect()
		if r := result[protocol.HelloResult](native, mine.ask(protocol.DoHello, "", nil)); r.By.Subject != "ci" {
			t.Errorf("%+v", r.By)
		}
		house, _ := c.dial("", "house")
		theirs := house.collect()
		stranger := dialForeign(t, c.http, "?token="+token)
		stranger.send(`{"type":"PING"}`)
		stranger.waitFor("PONG")
		over := make(chan error, 1)
		go func() {
			_, _, err := stranger.ws.Read(context.Background())
			over <- err
		}()
		time.Sleep(59 * time.Minute)
		if code := mine.closeCode(); code != 0 {
			t.Fatalf("closed with %d before the expiry", code)
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if code := mine.closeCode(); code != protocol.ClosePolicy {
			t.Errorf("closed with %d", code)
		}
		var closed websocket.CloseError
		if err := <-over; !errors.As(err, &closed) || closed.Code != protocol.ClosePolicy ||
			closed.Reason != reasonTokenExpired {
			t.Errorf("dialect: %v", err)
		}
		if code := theirs.closeCode(); code != 0 {
			t.Errorf("connection with the listener's token: closed with %d", code)
		}
		if conn, status := c.dial("", token); conn != nil || status != http.StatusUnauthorized {
			t.Errorf("connects again with the expired token: HTTP %d", status)
		}
	})
}

// A user's token is valid for a day.
func TestWhoLoggedInStaysADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newProtectedServer(t)
		_, reply := c.login("the observer", "open sesame")
		conn, _ := c.dial("", reply.Access_token)
		p := conn.collect()
		time.Sleep(24*time.Hour - time.Minute)
		if code := p.closeCode(); code != 0 {
			t.Errorf("closed with %d", code)
		}
		time.Sleep(2 * time.Minute)
		if code := p.closeCode(); code != protocol.ClosePolicy {
			t.Errorf("closed with %d", code)
		}
	})
}

// An event stream ends with its credential.
func TestAnExpiredTokenEndsItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newProtectedServer(t)
		id := c.runTurn("few")
		token := madeToken(t, login.TokenRequest{Role: protocol.RoleObserver, TTL: time.Minute})
		req, err := http.NewRequestWithContext(
			t.Context(),
			http.MethodGet,
			"http://server/api/sessions/"+id+"/events",
			nil,
		)
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
			t.Errorf("the stream ended after %s", took)
		}
	})
}
