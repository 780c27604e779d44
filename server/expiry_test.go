package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/protocol/multiagent"
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

// Every stream of a credential that was revoked or has expired ends soon, and says why, whether
// events arrive or not.
func TestAStreamSaysThatItsCredentialHasEnded(t *testing.T) {
	for name, stream := range map[string]func(c *protectedServer, id, token string) string{
		"native":  closeReason(protocol.Path, ""),
		"dialect": closeReason(dialectPath+multiagent.Name, `{"type":"PING"}`),
		"editor":  closeReason(acpPath, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`),
		"events":  lastBody("GET", "events"),
		"list":    lastBody("GET", ""),
		"message": lastBody("POST", "messages?wait=turn&timeout=600"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newProtectedServer(t)
				for _, busy := range []bool{false, true} {
					for _, revoked := range []bool{false, true} {
						user, _ := c.dial("", "house")
						id := user.create("")
						if busy {
							user.ask(protocol.DoSend, id, protocol.SendData{Text: "fifty words a second"})
						}
						token, err := c.auth.NewToken(login.TokenRequest{
							Subject: "ci", Role: protocol.RoleOperator, TTL: 5 * time.Second,
						})
						must(t, err)
						ended := make(chan string, 1)
						go func() { ended <- stream(c, id, token.Signed) }()
						want := reasonTokenExpired
						if revoked {
							time.Sleep(3 * time.Second)
							c.auth.SetRevoked(map[string]bool{token.ID: true})
							want = reasonTokenRevoked
						} else {
							time.Sleep(5 * time.Second)
						}
						began := time.Now()
						if got := <-ended; !strings.Contains(got, want) {
							t.Errorf("busy %v, revoked %v: ends with %q, want %q", busy, revoked, got, want)
						}
						if took := time.Since(began); took > 2*time.Second {
							t.Errorf("busy %v, revoked %v: ended after %s", busy, revoked, took)
						}
						user.ask(protocol.DoInterrupt, id, protocol.InterruptData{})
						_ = user.ws.CloseNow()
					}
				}
			})
		})
	}
}

// closeReason returns a stream over a WebSocket: what it returns is the reason of the close frame.
func closeReason(path, first string) func(c *protectedServer, id, token string) string {
	return func(c *protectedServer, id, token string) string {
		message := first
		if message == "" {
			message = string(protocol.MustEncode(protocol.Command{ID: "1", Command: protocol.DoSubscribe, Session: id}))
		}
		ws, resp, err := websocket.Dial(c.t.Context(), "ws://server"+path+"?token="+token, &websocket.DialOptions{
			HTTPClient: c.http, Subprotocols: []string{protocol.Subprotocol},
		})
		if err != nil {
			return fmt.Sprint(err, resp)
		}
		defer func() { _ = ws.CloseNow() }()
		ws.SetReadLimit(-1)
		err = ws.Write(c.t.Context(), websocket.MessageText, []byte(message))
		for err == nil {
			_, _, err = ws.Read(c.t.Context())
		}
		return err.Error()
	}
}

// lastBody returns a stream over HTTP: what it returns is the end of the body.
func lastBody(method, route string) func(c *protectedServer, id, token string) string {
	return func(c *protectedServer, id, token string) string {
		url, body := "http://server/api/sessions/"+id+"/"+route, io.Reader(http.NoBody)
		switch {
		case route == "":
			url = "http://server/api/sessions/events"
		case method == "POST":
			body = strings.NewReader(`{"text":"fifty words a second"}`)
		}
		req, err := http.NewRequestWithContext(c.t.Context(), method, url, body)
		if err != nil {
			return err.Error()
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := c.http.Do(req)
		if err != nil {
			return err.Error()
		}
		defer func() { _ = resp.Body.Close() }()
		b, _ := io.ReadAll(resp.Body)
		return fmt.Sprintf("HTTP %d: %s", resp.StatusCode, b[max(0, len(b)-300):])
	}
}
