package e2e

import (
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

// An operation is a row of the table in docs/dialects.md.
type operation struct {
	name          string
	verb          protocol.Verb
	data          any
	needsApproval bool // applies to a pending approval or its turn
}

var operations = []operation{
	{name: "snapshot", verb: protocol.DoSnapshot},
	{name: "history", verb: protocol.DoHistory},
	{name: "list", verb: protocol.DoList},
	{name: "create", verb: protocol.DoCreate, data: protocol.CreateData{}},
	{name: "send", verb: protocol.DoSend, data: protocol.SendData{Text: "x"}},
	{name: "send ahead of the queue", verb: protocol.DoSend, data: protocol.SendData{Text: "x", Front: true}},
	{name: "interrupt", verb: protocol.DoInterrupt, data: protocol.InterruptData{}, needsApproval: true},
	{
		name:          "interrupt, hold the queue",
		verb:          protocol.DoInterrupt,
		data:          protocol.InterruptData{Queue: protocol.QueueHold},
		needsApproval: true,
	},
	{
		name:          "interrupt, clear the queue",
		verb:          protocol.DoInterrupt,
		data:          protocol.InterruptData{Queue: protocol.QueueClear},
		needsApproval: true,
	},
	{name: "queue.edit", verb: protocol.DoQueueEdit, data: protocol.QueueEditData{MessageID: "m", Text: "x"}},
	{name: "queue.remove", verb: protocol.DoQueueRemove, data: protocol.QueueRemoveData{MessageID: "m"}},
	{name: "queue.move", verb: protocol.DoQueueMove, data: protocol.QueueMoveData{MessageID: "m"}},
	{name: "queue.hold", verb: protocol.DoQueueHold, data: protocol.QueueHoldData{}},
	{name: "queue.release", verb: protocol.DoQueueRelease, data: protocol.QueueReleaseData{}},
	{
		name:          "approve: allow once",
		verb:          protocol.DoApprove,
		data:          protocol.ApproveData{Decision: protocol.AllowOnce},
		needsApproval: true,
	},
	{
		name:          "approve: allow always",
		verb:          protocol.DoApprove,
		data:          protocol.ApproveData{Decision: protocol.AllowAlways},
		needsApproval: true,
	},
	{
		name:          "approve: deny",
		verb:          protocol.DoApprove,
		data:          protocol.ApproveData{Decision: protocol.Deny},
		needsApproval: true,
	},
	{
		name:          "approve: deny and stop",
		verb:          protocol.DoApprove,
		data:          protocol.ApproveData{Decision: protocol.DenyStop},
		needsApproval: true,
	},
	{
		name:          "approve: explain",
		verb:          protocol.DoApprove,
		data:          protocol.ApproveData{Decision: protocol.Explain},
		needsApproval: true,
	},
	{name: "rules.list", verb: protocol.DoRulesList},
	{name: "rules.revoke", verb: protocol.DoRulesRevoke, data: protocol.RulesRevokeData{Rule: "r"}},
	{name: "task.cancel", verb: protocol.DoTaskCancel, data: protocol.TaskIDData{Task: "1"}},
	{name: "task.restart", verb: protocol.DoTaskRestart, data: protocol.TaskIDData{Task: "1"}},
	{
		name: "plan.run",
		verb: protocol.DoPlanRun,
		data: protocol.PlanRunData{Tasks: []protocol.Task{{ID: "1", Title: "x"}}},
	},
	{name: "context", verb: protocol.DoContext},
	{name: "compact", verb: protocol.DoCompact},
	{name: "undo", verb: protocol.DoUndo},
	{name: "retry", verb: protocol.DoRetry},
	{name: "fork", verb: protocol.DoFork, data: protocol.ForkData{}},
	{name: "export", verb: protocol.DoExport},
	{name: "restore", verb: protocol.DoRestore, data: protocol.RestoreData{}},
	{name: "import", verb: protocol.DoImport, data: protocol.ImportData{}},
	{name: "rename", verb: protocol.DoRename, data: protocol.RenameData{}},
	{name: "label", verb: protocol.DoLabel, data: protocol.LabelData{Labels: map[string]string{"k": "v"}}},
	{name: "configure", verb: protocol.DoConfigure, data: protocol.ConfigureData{Setting: "s", Value: "v"}},
	{name: "close", verb: protocol.DoClose, data: protocol.CloseData{}},
	{name: "search", verb: protocol.DoSearch, data: protocol.SearchData{Query: "x"}},
	{name: "blob", verb: protocol.DoBlob, data: protocol.BlobData{Blob: "b"}},
}

// Cells of the table.
const (
	cellUnsupported = "✗"
	cellOwnServer   = "own"  // only with agentctl's server
	cellPersistent  = "kept" // only by a persistent client
)

func TestTheDialectTableListsUnsupportedOperations(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/dialects.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(doc)) {
		if len(rows) > 0 && !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		if len(cells) == 1+len(dialect.Names()) && (slices.Equal(cells[1:], dialect.Names()) || len(rows) > 0) &&
			!strings.HasPrefix(cells[0], "-") {
			rows = append(rows, cells)
		}
	}
	if len(rows) != 1+len(operations) {
		t.Fatalf("the table has %d rows, want %d", len(rows)-1, len(operations))
	}
	for j, s := range operations {
		if rows[1+j][0] != s.name {
			t.Fatalf("row %d is %q, want %q", j, rows[1+j][0], s.name)
		}
	}
	for i, name := range dialect.Names() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTestServer(t, workScript...)
				for j, s := range operations {
					if cell := rows[1+j][1+i]; s.unsupported(t, name, w, false) != (cell == cellUnsupported) {
						t.Errorf("%s to agentctl's server: the table says %s", s.name, cell)
					}
				}
			})
			synctest.Test(t, func(t *testing.T) {
				for j, s := range operations {
					cell := rows[1+j][1+i]
					want := cell == cellUnsupported || cell == cellOwnServer
					if s.unsupported(t, name, nil, false) != want {
						t.Errorf("%s to a third-party server: the table says %s", s.name, cell)
					}
				}
			})
			if d, _ := dialect.Find(name); d.Ephemeral { // a one-shot client is refused
				return
			}
			synctest.Test(t, func(t *testing.T) {
				for j, s := range operations {
					cell := rows[1+j][1+i]
					want := cell == cellUnsupported || cell == cellOwnServer || cell == cellPersistent
					if s.unsupported(t, name, nil, true) != want {
						t.Errorf("%s by a one-shot client: the table says %s", s.name, cell)
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
	cmd := protocol.Command{Command: s.verb}
	if s.data != nil {
		cmd.Data = protocol.MustEncode(s.data)
	}
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
