package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/server/login"
)

// sesame is the hash of "open sesame", with one round to be fast.
const sesame = "pbkdf2-sha256$1$c2FsdHNhbHQ$N01MpLgNxh0tY+nm/hV9VIzp9rxoW2pwRzGCtGoCHMg"

// A protectedServer is a testServer with a TCP listener that requires its token or a user's.
type protectedServer struct {
	*testServer
	http *http.Client
}

func newProtectedServer(t *testing.T, options ...func(*testServer)) *protectedServer {
	t.Helper()
	var file []string
	for _, r := range protocol.Roles {
		file = append(file, fmt.Sprintf(`%q:{"password":%q,"role":%q}`, "the "+r, sesame, r))
	}
	users, err := login.ReadUsers([]byte("{" + strings.Join(file, ",") + "}"))
	must(t, err)
	keys := login.KeysFromSecret([]byte("secret"))
	options = append(options, func(w *testServer) { w.auth = login.NewAuthenticator(users, keys) })
	w := newTestServer(t, options...)
	pipe := NewPipe()
	pipe.Listener.Token = "house"
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(pipe.Listener) }()
	t.Cleanup(func() {
		w.stop()
		must(t, <-served)
	})
	return &protectedServer{w, httpClient(pipe.Dial)}
}

// login logs in and returns the status and the decoded body.
func (c *protectedServer) login(
	name, password string,
) (status int, reply struct{ Access_token, Role string }) { //nolint:revive // the wire's name
	c.t.Helper()
	body := fmt.Sprintf(`{"username":%q,"password":%q}`, name, password)
	req, err := http.NewRequestWithContext(
		c.t.Context(),
		http.MethodPost,
		"http://server"+login.Path,
		strings.NewReader(body),
	)
	must(c.t, err)
	resp, err := c.http.Do(req)
	must(c.t, err)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	must(c.t, err)
	must(c.t, json.Unmarshal(b, &reply))
	return resp.StatusCode, reply
}

func (c *protectedServer) dial(query, bearer string) (*testClient, int) {
	c.t.Helper()
	header := http.Header{}
	if bearer != "" {
		header.Set("Authorization", "Bearer "+bearer)
	}
	ws, resp, err := websocket.Dial(c.t.Context(), "ws://server"+protocol.Path+query, &websocket.DialOptions{
		HTTPClient: c.http, HTTPHeader: header, Subprotocols: []string{protocol.Subprotocol},
	})
	if err != nil {
		if resp == nil {
			c.t.Fatal(err)
		}
		return nil, resp.StatusCode
	}
	c.t.Cleanup(func() { _ = ws.CloseNow() })
	return &testClient{t: c.t, ws: ws, timeout: testTimeout}, resp.StatusCode
}

// MA-1, MA-3: a user's token is accepted as bearer credential and in the query, and sets the actor.
func TestWhoLogsInIsKnown(t *testing.T) {
	c := newProtectedServer(t)
	status, reply := c.login("the admin", "open sesame")
	if status != http.StatusOK || reply.Role != "admin" {
		t.Fatalf("%d %+v", status, reply)
	}
	for _, way := range [][2]string{{"?token=" + reply.Access_token, ""}, {"", reply.Access_token}} {
		conn, status := c.dial(way[0], way[1])
		if conn == nil {
			t.Fatalf("HTTP %d", status)
		}
		if r := conn.hello(protocol.HelloData{Name: "somebody else"}); r.By != (protocol.Actor{
			Name:    "the admin",
			Subject: "the admin",
		}) {
			t.Errorf("actor %+v", r.By)
		}
	}
	if status, _ := c.login("the admin", "wrong"); status != http.StatusUnauthorized {
		t.Errorf("wrong password: HTTP %d", status)
	}
}

func TestAccessNeedsAValidCredential(t *testing.T) {
	c := newProtectedServer(t)
	for _, token := range []string{"", "wrong", "a.b.c"} {
		if conn, status := c.dial("", token); conn != nil || status != http.StatusUnauthorized {
			t.Errorf("%q: HTTP %d", token, status)
		}
	}
	if conn, status := c.dial("", "house"); conn == nil {
		t.Errorf("listener's token: HTTP %d", status)
	}
}

// commands that a role does not allow are forbidden: every command, for every role. docs/access.md
// lists the roles of commands, so that a changed one is a line of its diff.
func TestRolesRestrictCommands(t *testing.T) {
	c := newProtectedServer(t)
	for rank, role := range protocol.Roles {
		_, reply := c.login("the "+string(role), "open sesame")
		conn, status := c.dial("", reply.Access_token)
		if conn == nil {
			t.Fatalf("HTTP %d", status)
		}
		listed := conn.hello(protocol.HelloData{}).Commands
		for _, command := range protocol.Commands {
			session := ""
			if command.Session {
				session = "nobody"
			}
			m := conn.ask(command.Verb, session, nil)
			forbidden := m.Error != nil && m.Error.Code == protocol.CodeForbidden
			may := rank >= slices.Index(protocol.Roles, command.Role)
			if forbidden == may || slices.Contains(listed, command.Verb) != may {
				t.Errorf("%s, %s: %+v; listed %v", role, command.Verb, m.Error, listed)
			}
		}
	}
}

func TestOnlyAdminsNameMCPServers(t *testing.T) {
	c := newProtectedServer(t)
	d := protocol.CreateData{MCPServers: []protocol.MCPServer{{Name: "files", Command: "files"}}}
	for _, role := range protocol.Roles {
		_, reply := c.login("the "+string(role), "open sesame")
		conn, _ := c.dial("", reply.Access_token)
		conn.hello(protocol.HelloData{})
		for verb, data := range map[protocol.Verb]any{
			protocol.DoCreate: d, protocol.DoImport: protocol.ImportData{CreateData: d},
		} {
			m := conn.ask(verb, "", data)
			if forbidden := m.Error != nil && m.Error.Code == protocol.CodeForbidden; forbidden == (role == protocol.RoleAdmin) {
				t.Errorf("%s of %s: %+v", verb, role, m.Error)
			}
		}
	}
}

func TestATokenForTheActorOfAnAgentIsRefused(t *testing.T) {
	c := newProtectedServer(t)
	token := madeToken(t, login.TokenRequest{Subject: "agent:s_1", Role: protocol.RoleAdmin, TTL: time.Hour})
	if conn, status := c.dial("", token); conn != nil || status != http.StatusUnauthorized {
		t.Errorf("HTTP %d", status)
	}
}

// A token from NewToken has its own role and needs no entry in the users file.
func TestAMadeTokenLetsIn(t *testing.T) {
	c := newProtectedServer(t)
	token := madeToken(t, login.TokenRequest{Role: protocol.RoleObserver, TTL: time.Hour})
	conn, status := c.dial("", token)
	if conn == nil {
		t.Fatalf("HTTP %d", status)
	}
	if r := conn.hello(protocol.HelloData{Name: "root"}); r.By != (protocol.Actor{Name: "ci", Subject: "ci"}) {
		t.Errorf("actor %+v", r.By)
	}
	if m := conn.ask(protocol.DoCreate, "", nil); m.Error == nil || m.Error.Code != protocol.CodeForbidden {
		t.Errorf("%+v", m.Error)
	}
}

// madeToken returns a token, of the subject ci unless another is given, made with the keys of a
// protectedServer.
func madeToken(t *testing.T, r login.TokenRequest) string {
	t.Helper()
	r.Subject = cmp.Or(r.Subject, "ci")
	token, err := login.NewAuthenticator(nil, login.KeysFromSecret([]byte("secret"))).NewToken(r)
	must(t, err)
	return token.Signed
}
