package server

import (
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

// sesame is the hash of "open sesame", at a cost that no real one has.
const sesame = "pbkdf2-sha256$1$c2FsdHNhbHQ$N01MpLgNxh0tY+nm/hV9VIzp9rxoW2pwRzGCtGoCHMg"

// A closed one is a server whose second listener wants credentials: its own token, or that of a user who logged in.
type closed struct {
	*world
	http *http.Client
}

func newClosed(t *testing.T) *closed {
	t.Helper()
	var file []string
	for _, r := range protocol.Roles {
		file = append(file, fmt.Sprintf(`%q:{"password":%q,"role":%q}`, "the "+r, sesame, r))
	}
	users, err := login.ReadUsers([]byte("{" + strings.Join(file, ",") + "}"))
	must(t, err)
	w := newWorld(t, func(w *world) { w.gate = login.NewAuthenticator(users, []byte("secret")) })
	pipe := NewPipe()
	pipe.Listener.Token = "house"
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(pipe.Listener) }()
	t.Cleanup(func() {
		w.stop()
		must(t, <-served)
	})
	return &closed{w, through(pipe.Dial)}
}

// login returns what logging in is answered.
func (c *closed) login(name, password string) (status int, said struct{ Access_token, Role string }) { //nolint:revive // the wire's name
	c.t.Helper()
	body := fmt.Sprintf(`{"username":%q,"password":%q}`, name, password)
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, "http://server"+login.Path, strings.NewReader(body))
	must(c.t, err)
	resp, err := c.http.Do(req)
	must(c.t, err)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	must(c.t, err)
	must(c.t, json.Unmarshal(b, &said))
	return resp.StatusCode, said
}

func (c *closed) dial(query, bearer string) (*client, int) {
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
	return &client{t: c.t, ws: ws, patience: patience}, resp.StatusCode
}

// MA-1, MA-3: who logs in uses the token as bearer credential or in the query, and acts under the name that it proves.
func TestWhoLogsInIsKnown(t *testing.T) {
	c := newClosed(t)
	status, said := c.login("the admin", "open sesame")
	if status != http.StatusOK || said.Role != "admin" {
		t.Fatalf("%d %+v", status, said)
	}
	for _, way := range [][2]string{{"?token=" + said.Access_token, ""}, {"", said.Access_token}} {
		conn, status := c.dial(way[0], way[1])
		if conn == nil {
			t.Fatalf("HTTP %d", status)
		}
		if r := conn.hello(protocol.HelloData{Name: "somebody else"}); r.By != (protocol.Actor{Name: "the admin", Subject: "the admin"}) {
			t.Errorf("acts as %+v", r.By)
		}
	}
	if status, _ := c.login("the admin", "wrong"); status != http.StatusUnauthorized {
		t.Errorf("a wrong password: HTTP %d", status)
	}
}

func TestWithoutAValidCredentialNobodyComesIn(t *testing.T) {
	c := newClosed(t)
	for _, token := range []string{"", "wrong", "a.b.c"} {
		if conn, status := c.dial("", token); conn != nil || status != http.StatusUnauthorized {
			t.Errorf("%q: HTTP %d", token, status)
		}
	}
	if conn, status := c.dial("", "house"); conn == nil {
		t.Errorf("the listener's token: HTTP %d", status)
	}
}

// weakest is the weakest role that may do each command.
var weakest = map[protocol.Verb]protocol.Role{
	protocol.DoHello: protocol.RoleObserver, protocol.DoPing: protocol.RoleObserver, protocol.DoSubscribe: protocol.RoleObserver,
	protocol.DoUnsubscribe: protocol.RoleObserver, protocol.DoAck: protocol.RoleObserver, protocol.DoWatch: protocol.RoleObserver,
	protocol.DoList: protocol.RoleObserver, protocol.DoSnapshot: protocol.RoleObserver, protocol.DoHistory: protocol.RoleObserver,
	protocol.DoSearch: protocol.RoleObserver, protocol.DoBlob: protocol.RoleObserver, protocol.DoRulesList: protocol.RoleObserver,
	protocol.DoContext: protocol.RoleObserver, protocol.DoExport: protocol.RoleObserver,

	protocol.DoCreate: protocol.RoleOperator, protocol.DoRename: protocol.RoleOperator, protocol.DoConfigure: protocol.RoleOperator,
	protocol.DoClose: protocol.RoleOperator, protocol.DoSend: protocol.RoleOperator, protocol.DoInterrupt: protocol.RoleOperator,
	protocol.DoQueueEdit: protocol.RoleOperator, protocol.DoQueueRemove: protocol.RoleOperator, protocol.DoQueueMove: protocol.RoleOperator,
	protocol.DoQueueHold: protocol.RoleOperator, protocol.DoQueueRelease: protocol.RoleOperator, protocol.DoTaskCancel: protocol.RoleOperator,
	protocol.DoTaskRestart: protocol.RoleOperator, protocol.DoPlanRun: protocol.RoleOperator, protocol.DoCompact: protocol.RoleOperator,
	protocol.DoRestore: protocol.RoleOperator,

	protocol.DoApprove: protocol.RoleApprover, protocol.DoRulesRevoke: protocol.RoleApprover,
}

// what a role does not allow is forbidden, whatever the client: every command, for every role.
func TestRolesRestrictCommands(t *testing.T) {
	c := newClosed(t)
	for rank, role := range protocol.Roles {
		_, said := c.login("the "+string(role), "open sesame")
		conn, status := c.dial("", said.Access_token)
		if conn == nil {
			t.Fatalf("HTTP %d", status)
		}
		told := conn.hello(protocol.HelloData{}).Commands
		for _, command := range protocol.Commands {
			least, known := weakest[command.Verb]
			if !known {
				t.Errorf("who may %s?", command.Verb)
			}
			session := ""
			if command.Session {
				session = "nobody"
			}
			m := conn.ask(command.Verb, session, nil)
			forbidden := m.Error != nil && m.Error.Code == protocol.CodeForbidden
			may := rank >= slices.Index(protocol.Roles, least)
			if forbidden == may || slices.Contains(told, command.Verb) != may {
				t.Errorf("%s, %s: %+v; told %v", role, command.Verb, m.Error, told)
			}
		}
	}
}

// A made token has the role that it says, of nobody in the users file.
func TestAMadeTokenLetsIn(t *testing.T) {
	c := newClosed(t)
	token, err := login.NewAuthenticator(nil, []byte("secret")).NewToken("ci", protocol.RoleObserver, time.Hour)
	must(t, err)
	conn, status := c.dial("", token)
	if conn == nil {
		t.Fatalf("HTTP %d", status)
	}
	if r := conn.hello(protocol.HelloData{Name: "root"}); r.By != (protocol.Actor{Name: "ci", Subject: "ci"}) {
		t.Errorf("acts as %+v", r.By)
	}
	if m := conn.ask(protocol.DoCreate, "", nil); m.Error == nil || m.Error.Code != protocol.CodeForbidden {
		t.Errorf("%+v", m.Error)
	}
}
