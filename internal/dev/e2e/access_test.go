package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/server"
	"agentctl/server/agent/process"
	"agentctl/wsclient"
)

// An accessColumn is a caller in the tables of docs/access.md.
type accessColumn struct {
	name string
	role protocol.Role
	own  bool // of an agent: in a session that it created
}

var accessColumns = []accessColumn{
	{name: "observer", role: protocol.RoleObserver},
	{name: "operator", role: protocol.RoleOperator},
	{name: "approver", role: protocol.RoleApprover},
	{name: "admin", role: protocol.RoleAdmin},
	{name: "no role"},
	{name: "agent", role: protocol.RoleAgent},
	{name: "agent in its own session", role: protocol.RoleAgent, own: true},
}

// allows reports whether the table allows a command.
func (c *accessColumn) allows(v protocol.Verb) bool {
	switch c.role.Scope(v) {
	case protocol.ScopeEvery:
		return true
	case protocol.ScopeOwn:
		return c.own || !protocol.CommandOf(v).Session
	}
	return false
}

// listenFor opens a listener for callers of a column. For an agent it takes every client for a
// process of the agent of a session.
func (w *testServer) listenFor(role protocol.Role, agentOf string) func(context.Context) (net.Conn, error) {
	p := server.NewPipe()
	p.Role = role
	if role == protocol.RoleAgent {
		p.Role = ""
		p.Ancestry = func(net.Conn) ([]process.Ancestor, error) {
			return []process.Ancestor{{PID: 1 << 30}, {PID: 1<<30 + 1, Session: agentOf}}, nil
		}
	}
	w.server.Load().listen(p.Listener)
	return p.Dial
}

// newSession creates the session of a column and returns it with the callers' dial function.
func (w *testServer) newSession(t *testing.T, c *accessColumn) (
	session string, dial func(context.Context) (net.Conn, error),
) {
	t.Helper()
	ann := w.client("ann")
	boss := w.create(ann)
	dial = w.listenFor(c.role, boss)
	if !c.own {
		return w.create(ann), dial
	}
	agent := w.client("anybody", func(o *wsclient.Options) { o.Dial = dial })
	return w.create(agent), dial
}

// execute sends a command on a separate connection and returns the error of its answer.
func execute(t *testing.T, dial func(context.Context) (net.Conn, error), cmd protocol.Command) error {
	t.Helper()
	p := dialRaw(t, dial)
	defer p.conn.CloseNow() //nolint:errcheck // it reports nothing
	if cmd.Command == protocol.DoUnsubscribe {
		p.write(websocket.MessageText, string(protocol.MustEncode(protocol.Command{
			ID: "first", Command: protocol.DoSubscribe, Session: cmd.Session,
		})))
		p.readAnswer()
	}
	cmd.ID = "1"
	p.write(websocket.MessageText, string(protocol.MustEncode(cmd)))
	if cmd.Command == protocol.DoAck { // it has no answer
		cmd = protocol.Command{ID: "2", Command: protocol.DoPing}
		p.write(websocket.MessageText, string(protocol.MustEncode(cmd)))
	}
	if a := p.readAnswer(); a.Error != nil {
		return a.Error
	}
	return nil
}

// accessCommand returns a command with data for the fixture.
func (s *commandFixture) accessCommand(t *protocol.CommandType) protocol.Command {
	cmd := protocol.Command{Command: t.Verb}
	if t.Session {
		cmd.Session = s.session
	}
	data := s.commandData(t)[0]
	if t.Verb == protocol.DoConfigure { // agents may choose no mode
		data = protocol.ConfigureData{Setting: "model", Value: "large"}
	}
	if data != nil {
		cmd.Data = protocol.MustEncode(data)
	}
	if t.Changes {
		cmd.Key = "key " + string(t.Verb)
	}
	return cmd
}

// TestEveryCommandIsForTheRolesOfTheTable sends every command as every role. A command that changes
// something needs its own server: by default only the weakest roles that may send it do.
func TestEveryCommandIsForTheRolesOfTheTable(t *testing.T) {
	t.Parallel()
	for i := range accessColumns {
		c := &accessColumns[i]
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTestServer(t, commandFixtureScript...)
				session, dial := w.newSession(t, c)
				s := w.newCommandFixture(t, session)
				before := s.logEnds(t)
				for i := range protocol.Commands {
					k := &protocol.Commands[i]
					if k.Changes && c.allows(k.Verb) {
						continue
					}
					err := execute(t, dial, s.accessCommand(k))
					if refused := protocol.CodeOf(err) == protocol.CodeForbidden; refused == c.allows(k.Verb) {
						t.Errorf("%s: %v, want %s", k.Verb, err, c.role.Scope(k.Verb))
					}
					if k.Verb == protocol.DoExport {
						before = s.logEnds(t)
					}
				}
				synctest.Wait()
				if after := s.logEnds(t); after != before {
					t.Errorf("refused commands changed\n%sto\n%s", before, after)
				}
			})
			for i := range protocol.Commands {
				k := &protocol.Commands[i]
				if !k.Changes || !c.allows(k.Verb) || !thorough.All() && !c.newlyAllows(k.Verb) {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					w := newTestServer(t, commandFixtureScript...)
					session, dial := w.newSession(t, c)
					s := w.newCommandFixture(t, session)
					err := execute(t, dial, s.accessCommand(k))
					cannot := slices.Contains(notOfScripts, k.Verb) && protocol.CodeOf(err) == protocol.CodeUnsupported
					if err != nil && !cannot {
						t.Errorf("%s: %v", k.Verb, err)
					}
				})
			}
		})
	}
}

// newlyAllows reports whether no weaker role of the table allows a command that the column allows.
func (c *accessColumn) newlyAllows(v protocol.Verb) bool {
	for i := range accessColumns {
		switch weaker := &accessColumns[i]; {
		case weaker == c:
			return c.allows(v)
		case weaker.allows(v) && c.role != protocol.RoleAgent:
			return false
		}
	}
	return false
}

// TestEveryDialectKeepsTheTableOfRoles sends the commands that a role refuses, and those that no
// weaker role allows. TestEveryCommandIsForTheRolesOfTheTable sends all commands of all roles.
func TestEveryDialectKeepsTheTableOfRoles(t *testing.T) {
	t.Parallel()
	for _, name := range dialect.Names() {
		d, _ := dialect.Find(name)
		for i := range accessColumns {
			c := &accessColumns[i]
			t.Run(name+" "+c.name, func(t *testing.T) {
				sent := map[bool]int{}
				refused, allowed := accessOperations(&d, c)
				for _, o := range slices.Concat(thorough.Sample(refused, 2), thorough.Sample(allowed, 2)) {
					synctest.Test(t, func(t *testing.T) {
						if testDialectOperation(t, name, c, &o) {
							sent[c.allows(o.verb)]++
						}
					})
				}
				all := c.role == "" || c.role == protocol.RoleAdmin // they allow what an approver may
				if sent[true] == 0 && !all || sent[false] == 0 && !all && c.role != protocol.RoleApprover {
					t.Errorf("%d allowed and %d refused commands", sent[true], sent[false])
				}
			})
		}
	}
}

// accessOperations returns the operations of a dialect that a column refuses, and those that it
// allows and no weaker one does.
func accessOperations(d *codec.Dialect, c *accessColumn) (refused, allowed []operation) {
	for _, o := range operations() {
		switch {
		case d.Unsupported(o.verb, false) != nil:
		case !c.allows(o.verb):
			refused = append(refused, o)
		case c.newlyAllows(o.verb):
			allowed = append(allowed, o)
		}
	}
	return refused, allowed
}

// testDialectOperation sends a command over a dialect and checks its effect: not every dialect
// answers a refused command. It returns false if the dialect does not carry the command.
func testDialectOperation(t *testing.T, name string, c *accessColumn, o *operation) bool {
	w := newTestServer(t, workScript...)
	session, dial := w.newSession(t, c)
	client := w.dialectClient(name, session, func(o *wsclient.Options) { o.Dial = dial })
	follow(t, name, client, session)
	synctest.Wait() // not every dialect confirms a subscription
	bob := w.client("bob")
	if o.verb != protocol.DoSend { // a client of a dialect may keep messages until its turn ends
		w.send(bob, session, "work")
		mustObserve(t, w.client("carol"), session, wsclient.SubscribeOptions{}, eventOfType(protocol.ApprovalRequested))
	}
	s := &commandFixture{testServer: w, c: bob, session: session}
	synctest.Wait()
	before := s.logEnds(t)
	cmd := protocol.Command{Command: o.verb}
	if o.data != nil {
		cmd.Data = protocol.MustEncode(o.data)
	}
	if protocol.CommandOf(o.verb).Session {
		cmd.Session = session
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := client.Do(ctx, cmd, nil)
	if protocol.CodeOf(err) == protocol.CodeUnsupported {
		return false
	}
	synctest.Wait()
	changed := s.logEnds(t) != before
	switch {
	case !c.allows(o.verb) && (changed || err == nil && o.reachesServer()):
		t.Errorf("%s: changed %t, %v: want no effect", o.name, changed, err)
	case c.allows(o.verb) && protocol.CodeOf(err) == protocol.CodeForbidden:
		t.Errorf("%s: %v", o.name, err)
	case c.allows(o.verb) && err == nil && o.reachesServer() && !changed:
		t.Errorf("%s had no effect", o.name)
	}
	return true
}

// reachesServer reports whether every client that carries the command sends it, and it changes a
// session that runs workScript.
func (o *operation) reachesServer() bool {
	switch o.verb {
	case protocol.DoCreate, protocol.DoSend, protocol.DoInterrupt, protocol.DoApprove:
		return true
	}
	return false
}

func TestEveryHTTPRouteIsForTheRolesOfTheTable(t *testing.T) {
	columns := append([]accessColumn{{name: "metrics", role: protocol.RoleMetrics}}, accessColumns...)
	for i := range columns {
		c := &columns[i]
		t.Run(c.name, func(t *testing.T) {
			w := newTestServer(t, commandFixtureScript...)
			session, dial := w.newSession(t, c)
			client := httpClient(dial)
			s := &commandFixture{testServer: w, c: w.client("bob"), session: session}
			before := s.logEnds(t)
			routes := slices.DeleteFunc(server.Routes(), func(r server.Route) bool { return r.Link }) // no hooks here
			slices.SortStableFunc(routes, func(a, b server.Route) int { return cmp.Compare(ends(&a), ends(&b)) })
			for _, refused := range []bool{true, false} { // those that are allowed change sessions
				for _, r := range routes {
					want := r.Allows(c.role)
					if r.Verb != "" {
						want = c.allows(r.Verb)
					}
					if want == refused {
						continue
					}
					status, code := request(t, client, &r, session)
					if (code != protocol.CodeForbidden && code != protocol.CodeUnauthorized) != want || status == 0 {
						t.Errorf("%s: %d %s, want allowed %t", r.Pattern, status, code, want)
					}
				}
				if after := s.logEnds(t); refused && after != before {
					t.Errorf("refused requests changed\n%sto\n%s", before, after)
				}
			}
		})
	}
}

// ends orders routes: those that end the session come last, and its removal after its close.
func ends(r *server.Route) int {
	switch {
	case r.Verb != protocol.DoClose:
		return 0
	case strings.HasPrefix(r.Pattern, http.MethodPost):
		return 1
	}
	return 2
}

// request sends a request of a route about a session, with data that changes little, and returns
// the status and the error's code.
func request(t *testing.T, client *http.Client, route *server.Route, session string) (int, protocol.Code) {
	t.Helper()
	method, path, _ := strings.Cut(route.Pattern, " ")
	path = strings.NewReplacer(
		"{id}", session, "{blob}", "none", "{message_id}", "none", "{request}", "none", "{rule}", "none",
		"{task}", "none", "{setting}", "model",
	).Replace(path)
	var body io.Reader = http.NoBody
	switch route.Verb {
	case protocol.DoConfigure:
		body = strings.NewReader(`{"value":"large"}`)
	case protocol.DoSearch:
		path += "?query=x"
	}
	ctx, cancel := context.WithCancel(t.Context()) // ends a stream of events
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://server"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var failure struct {
		Error protocol.Error `json:"error"`
	}
	if resp.StatusCode >= http.StatusBadRequest {
		_ = json.NewDecoder(resp.Body).Decode(&failure) // a WebSocket route answers in text
	}
	return resp.StatusCode, failure.Error.Code
}
