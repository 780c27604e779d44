package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/server"
	"agentctl/wsclient"
)

// An operation is what a client asks for: a command, or one form of it.
type operation struct {
	name          string // of its row in docs/dialects.md
	verb          protocol.Verb
	data          json.RawMessage
	needsApproval bool // applies to a pending approval or its turn
}

// forms are the operations beside the plain commands.
var forms = []operation{
	{"send ahead of the queue", protocol.DoSend, json.RawMessage(`{"text":"x","front":true}`), false},
	{"send, deliver in the current turn", protocol.DoSend, json.RawMessage(`{"text":"x","delivery":"steer"}`), false},
	{"interrupt, hold the queue", protocol.DoInterrupt, json.RawMessage(`{"queue":"hold"}`), true},
	{"interrupt, clear the queue", protocol.DoInterrupt, json.RawMessage(`{"queue":"clear"}`), true},
	{"approve: allow once", protocol.DoApprove, json.RawMessage(`{"decision":"allow_once"}`), true},
	{"approve: allow always", protocol.DoApprove, json.RawMessage(`{"decision":"allow_always"}`), true},
	{"approve: deny", protocol.DoApprove, json.RawMessage(`{"decision":"deny"}`), true},
	{"approve: deny and stop", protocol.DoApprove, json.RawMessage(`{"decision":"deny_stop"}`), true},
	{"approve: explain", protocol.DoApprove, json.RawMessage(`{"decision":"explain"}`), true},
}

// operations returns the forms and every command that is not about the connection, with its example.
func operations() []operation {
	list := slices.Clone(forms)
	for _, c := range protocol.Commands {
		if c.Connection || c.Verb == protocol.DoApprove {
			continue
		}
		o := operation{name: string(c.Verb), verb: c.Verb, needsApproval: c.Verb == protocol.DoInterrupt}
		if c.Examples[0] != "" {
			o.data = json.RawMessage(c.Examples[0])
		}
		list = append(list, o)
	}
	return list
}

// Cells of the table.
const (
	cellUnsupported = "✗"
	cellOwnServer   = "own"  // only with agentctl's server
	cellPersistent  = "kept" // only by a persistent client
)

// dialectTable returns the cells of the table in docs/dialects.md, by operation and dialect.
func dialectTable(t *testing.T) map[string]map[string]string {
	t.Helper()
	doc, err := os.ReadFile("../../../docs/dialects.md")
	if err != nil {
		t.Fatal(err)
	}
	var table map[string]map[string]string
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		switch {
		case table == nil && len(cells) > 1 && slices.Equal(cells[1:], dialect.Names()):
			table = map[string]map[string]string{}
		case table != nil && !strings.HasPrefix(line, "|"):
			return table
		case table != nil && !strings.HasPrefix(cells[0], "-"):
			table[cells[0]] = map[string]string{}
			for i, name := range dialect.Names() {
				table[cells[0]][name] = cells[1+i]
			}
		}
	}
	t.Fatal("docs/dialects.md: no table of commands")
	return nil
}

// An operation without a row has no dialect that carries it.
func TestTheDialectTableListsUnsupportedOperations(t *testing.T) {
	t.Parallel()
	table, list := dialectTable(t), operations()
	for name := range table {
		if !slices.ContainsFunc(list, func(o operation) bool { return o.name == name }) {
			t.Errorf("docs/dialects.md: the row %q is about no command", name)
		}
	}
	for _, name := range dialect.Names() {
		t.Run(name, func(t *testing.T) {
			cell := func(o *operation) string { return cmp.Or(table[o.name][name], cellUnsupported) }
			synctest.Test(t, func(t *testing.T) {
				w := newTestServer(t, workScript...)
				for i := range list {
					o := &list[i]
					if o.unsupported(t, name, w, false) != (cell(o) == cellUnsupported) {
						t.Errorf("%s to agentctl's server: the table says %s", o.name, cell(o))
					}
				}
			})
			synctest.Test(t, func(t *testing.T) {
				for i := range list {
					o := &list[i]
					want := cell(o) == cellUnsupported || cell(o) == cellOwnServer
					if o.unsupported(t, name, nil, false) != want {
						t.Errorf("%s to a third-party server: the table says %s", o.name, cell(o))
					}
				}
			})
			if d, _ := dialect.Find(name); d.Ephemeral { // a one-shot client is refused
				return
			}
			synctest.Test(t, func(t *testing.T) {
				for i := range list {
					o := &list[i]
					want := cell(o) == cellUnsupported || cell(o) == cellOwnServer || cell(o) == cellPersistent
					if o.unsupported(t, name, nil, true) != want {
						t.Errorf("%s by a one-shot client: the table says %s", o.name, cell(o))
					}
				}
			})
		})
	}
}

// unsupported reports whether a dialect refuses the operation: with agentctl's server, or, if w is
// nil, with a third-party server, there by a persistent or a one-shot client.
func (s *operation) unsupported(t *testing.T, name string, w *testServer, oneShot bool) bool {
	t.Helper()
	session := "s1"
	var c *wsclient.Client
	if w == nil {
		c = wsclient.New(
			"ws://server/s1",
			wsclient.Options{
				Name: "ann", Dialect: name, OneShot: oneShot, Dial: newThirdPartyServer(t, name, s.needsApproval),
			},
		)
		t.Cleanup(func() { _ = c.Close() })
	} else {
		session = w.create(w.client("ann"))
		c = w.dialectClient(name, session)
	}
	f := follow(t, name, c, session)
	synctest.Wait() // not every dialect confirms a subscription
	if w != nil {
		w.send(w.client("bob"), session, "work")
	}
	if (s.needsApproval || w != nil) && len(f.state.Approvals) == 0 &&
		!(w == nil && name == "effectiveagent") { // effectiveagent has no approval requests
		f.waitFor(protocol.ApprovalRequested)
	}
	cmd := protocol.Command{Command: s.verb, Data: s.data}
	switch s.verb {
	case protocol.DoList, protocol.DoCreate, protocol.DoRestore, protocol.DoImport:
	default:
		cmd.Session = session
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := c.Do(ctx, cmd, nil)
	return protocol.CodeOf(err) == protocol.CodeUnsupported && strings.Contains(err.Error(), "the dialect "+name+" ")
}

// newThirdPartyServer returns the dial function of a third-party server that follows the dialect's
// document: it completes the client's handshake, may request an approval, and sends nothing else.
func newThirdPartyServer(t *testing.T, name string, asks bool) func(context.Context) (net.Conn, error) {
	pipe := server.NewPipe()
	h := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			ws, err := websocket.Accept(rw, r, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer ws.CloseNow()
			var frames []string
			if asks && name == "agentloop" { // agentloop servers send first
				frames = []string{
					`{"id":"1","type":"loading_state","payload":{"loading":true}}`,
					`{"id":"2","type":"approval_request","payload":{"command":["ls"]}}`,
				}
			}
			for {
				for _, f := range frames {
					if ws.Write(r.Context(), websocket.MessageText, []byte(f)) != nil {
						return
					}
				}
				_, frame, err := ws.Read(r.Context())
				if err != nil {
					return
				}
				if frames = thirdPartyReply(frame); !asks && len(frames) > 1 {
					frames = frames[:1]
				}
			}
		}),
	}
	served := make(chan error, 1)
	go func() { served <- h.Serve(pipe.Listener) }()
	t.Cleanup(func() { _ = h.Close(); <-served })
	return pipe.Dial
}

// thirdPartyReply returns a third-party server's reply to a client's frame, in any dialect.
func thirdPartyReply(frame []byte) []string {
	var m struct{ Event, Type string }
	var rpc struct {
		ID  string `json:"id"`
		Tag string `json:"tag"`
		T   string `json:"_tag"`
	}
	_ = json.Unmarshal(frame, &m)
	_ = json.Unmarshal(frame, &rpc)
	switch {
	case rpc.T == "Ping":
		return []string{`{"_tag":"Pong"}` + "\n"}
	case rpc.Tag == "chat.subscribe":
		return []string{
			`{"_tag":"Chunk","requestId":"` + rpc.ID + `","values":[{"_tag":"InitialState","snapshot":{"status":"streaming","activeTurnId":"t1",` +
				`"queue":[],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}},"buffer":[],` +
				`"turnContext":{"turnId":"t1","messageId":"m1","content":"go","clientMessageId":"m1","startedAt":"2026-03-01T09:00:00.000Z"},` +
				`"pendingApprovals":[{"toolCallId":"c1","toolName":"Bash"}]}]}` + "\n",
		}
	case rpc.Tag == "chat.getHistory":
		return []string{`{"_tag":"Exit","requestId":"` + rpc.ID + `","exit":{"_tag":"Success","value":[]}}` + "\n"}
	case m.Event == "user.create_session":
		return []string{
			`{"event":"agent.session_created","session_id":"s1"}`,
			`{"event":"agent.user_confirm","session_id":"s1","step_id":"confirm_1","metadata":{"tool_name":"shell","requires_confirmation":true}}`,
		}
	case m.Event == "user.reconnect":
		return []string{`{"event":"system.error","content":"Unknown event type or missing session_id: user.reconnect"}`}
	case m.Type == "PING":
		return []string{
			`{"type":"PONG"}`,
			`{"type":"tool_approval_required","conversationId":"s1","payload":{"requestId":"r1","toolName":"shell","toolArgs":{},"description":"x","agentName":"a"}}`,
		}
	}
	return nil
}
