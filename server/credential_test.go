package server

import (
	"context"
	"encoding/json"
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

// request sends a GET with a token and returns the status.
func (c *protectedServer) request(path, token string, header ...string) (int, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, "http://server"+path, nil)
	must(c.t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.http.Do(r)
	must(c.t, err)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	must(c.t, err)
	return resp.StatusCode, string(b)
}

// A removed user's connections, native and of a dialect, and event streams end, and no others. A
// user with another role reconnects.
func TestAChangedUserEndsItsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newProtectedServer(t)
		id := c.runTurn("few")
		_, gone := c.login("the operator", "open sesame")
		_, changed := c.login("the admin", "open sesame")
		_, stays := c.login("the observer", "open sesame")
		native, _ := c.dial("", gone.Access_token)
		promoted, _ := c.dial("", changed.Access_token)
		other, _ := c.dial("", stays.Access_token)
		ends, restarts, lives := native.collect(), promoted.collect(), other.collect()
		foreign := dialForeign(t, c.http, "?token="+gone.Access_token)
		foreign.send(`{"type":"PING"}`)
		foreign.waitFor("PONG")
		over := make(chan error, 2)
		go func() {
			_, _, err := foreign.ws.Read(context.Background())
			over <- err
		}()
		go func() {
			_, _ = c.request("/api/sessions/"+id+"/events", gone.Access_token)
			over <- nil
		}()
		synctest.Wait()
		users, err := login.ReadUsers([]byte(`{"the observer":{"password":"` + sesame + `","role":"observer"},
			"the admin":{"password":"` + sesame + `","role":"operator"}}`))
		must(t, err)
		c.auth.SetUsers(users)
		for range 2 {
			var closed websocket.CloseError
			if err := <-over; err != nil && (!errors.As(err, &closed) || closed.Code != protocol.ClosePolicy) {
				t.Errorf("dialect: %v", err)
			}
		}
		synctest.Wait()
		a, b, d := ends.closeCode(), restarts.closeCode(), lives.closeCode()
		if a != protocol.ClosePolicy || b != protocol.CloseGoingAway || d != 0 {
			t.Errorf("closed with %d, %d and %d", a, b, d)
		}
		for token, want := range map[string]int{
			gone.Access_token: 401, changed.Access_token: 200, stays.Access_token: 200,
		} {
			if status, _ := c.request("/api/sessions", token); status != want {
				t.Errorf("HTTP %d, want %d", status, want)
			}
		}
	})
}

// A credential of one session reads and steers that session, and is refused at every other, in the
// native protocol, over HTTP and in a dialect.
func TestACredentialOfOneSessionIsRefusedElsewhere(t *testing.T) {
	c := newProtectedServer(t)
	mine, other := c.runTurn("few"), c.runTurn("few")
	token := madeToken(t, login.TokenRequest{Role: protocol.RoleAdmin, Session: mine, TTL: time.Hour})
	conn, _ := c.dial("", token)
	name := "named"
	ok[protocol.Empty](conn, protocol.DoRename, mine, protocol.RenameData{Name: &name})
	for _, session := range []string{mine, name, mine[:len(mine)-1]} {
		if m := conn.ask(protocol.DoSnapshot, session, nil); m.Error != nil {
			t.Errorf("%s: %+v", session, m.Error)
		}
	}
	if list := ok[protocol.ListResult](conn, protocol.DoList, "", nil).Sessions; len(list) != 1 ||
		list[0].Session != mine {
		t.Errorf("list %+v", list)
	}
	allowed := map[protocol.Verb]bool{protocol.DoHello: true, protocol.DoPing: true, protocol.DoList: true}
	listed := map[protocol.Verb]bool{}
	for _, v := range conn.hello(protocol.HelloData{}).Commands {
		listed[v] = true
	}
	for _, command := range protocol.Commands {
		sessions := []string{other, "", "nobody"}
		switch command.Verb {
		case protocol.DoCreate, protocol.DoRestore, protocol.DoImport, protocol.DoWatch:
			sessions = append(sessions, mine)
			if listed[command.Verb] {
				t.Errorf("hello lists %s", command.Verb)
			}
		}
		for _, session := range sessions {
			m := conn.ask(command.Verb, session, nil)
			forbidden := m.Error != nil && m.Error.Code == protocol.CodeForbidden
			// A command that needs a session and has none is malformed before it is forbidden.
			malformed := command.Session && session == "" && m.Error != nil
			if forbidden == allowed[command.Verb] && !malformed {
				t.Errorf("%s of %q: %+v", command.Verb, session, m.Error)
			}
		}
	}
	for path, want := range map[string]int{
		"/api/sessions/" + mine + "/messages":                         200,
		"/api/sessions/" + other + "/messages":                        403,
		"/api/sessions/" + mine + "%2f..%2f" + other + "/messages":    404,
		"/api/sessions/" + mine + "x/messages":                        403,
		"/api/sessions":                                               403,
		"/api/blobs/b_1":                                              403,
		"/api/blobs/b_1?session=" + other:                             403,
		"/api/sessions/" + mine + "/../" + other + "/messages":        404,
		"/api/sessions/" + other + "/events?session=" + mine + "&a=/": 403,
	} {
		if status, body := c.request(path, token); status != want {
			t.Errorf("%s: HTTP %d %s, want %d", path, status, body, want)
		}
	}
	foreign := dialForeign(t, c.http, "?token="+token)
	foreign.send(`{"type":"start_conversation","payload":{"domainId":"d"}}`)
	if f, _ := foreign.waitFor("error"); f.Payload.Code != string(protocol.CodeForbidden) {
		t.Errorf("a dialect: %+v", f)
	}
	foreign.send(`{"type":"send_message","conversationId":` + string(ignoreError(json.Marshal(other))) +
		`,"payload":{"content":"few"}}`)
	if f, _ := foreign.waitFor("error"); f.Payload.Code != string(protocol.CodeForbidden) {
		t.Errorf("a dialect: %+v", f)
	}
}

func ignoreError[V any](v V, _ error) V { return v }

// A browser's word that a page of another site asks is honoured, and a token in a URL is refused
// for everything that a browser shows.
func TestWhatABrowserSaysIsHonoured(t *testing.T) {
	c := newProtectedServer(t)
	const site, mode, dest = "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest"
	for _, tt := range []struct {
		path, token string
		header      []string
		want        int
	}{
		{"/api/sessions?token=house", "", nil, 200},
		{"/api/sessions?token=house", "", []string{"Accept", "text/event-stream", mode, "cors", dest, "empty"}, 200},
		{"/api/sessions?token=house", "", []string{site, "none", mode, "navigate", dest, "document"}, 401},
		{"/api/sessions?token=house", "", []string{site, "same-origin", mode, "no-cors", dest, "image"}, 401},
		{"/api/sessions?token=house", "", []string{mode, "navigate"}, 401},
		{"/api/sessions?token=house", "", []string{dest, "iframe"}, 401},
		{"/api/sessions?token=house", "", []string{"Accept", "text/html,*/*"}, 401},
		{"/api/sessions", "house", []string{"Accept", "text/html,*/*"}, 200},
		{"/api/sessions", "house", []string{site, "same-origin"}, 200},
		{"/api/sessions", "house", []string{site, "none"}, 200},
		{"/api/sessions", "house", []string{site, "cross-site"}, 403},
		{"/api/sessions", "house", []string{site, "same-site"}, 403},
		{"/api/sessions", "house", []string{site, "anything"}, 403},
		{"/healthz", "", []string{site, "cross-site"}, 403},
	} {
		if status, body := c.request(tt.path, tt.token, tt.header...); status != tt.want {
			t.Errorf("%s %q: HTTP %d %s, want %d", tt.path, tt.header, status, body, tt.want)
		}
	}
}
