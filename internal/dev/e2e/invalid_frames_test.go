package e2e

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/server"
	"agentctl/wsclient"
)

// invalidFrames returns frames that no correct server sends: malformed, huge, deeply nested, of
// wrong types, of unknown kinds, about unknown objects.
func invalidFrames(id string) []string {
	deep := strings.Repeat("[", 50_000)
	nested := strings.Repeat(`{"a":`, 3000) + "1" + strings.Repeat("}", 3000)
	huge := `"` + strings.Repeat("x", 600<<10) + `"`
	return []string{
		"", " ", "{", "null", "0", `""`, "[]", "{}", "\xff\xfe", `"\ud800"`, deep, nested, huge, `{"type":null}`,
		`{"type":{}}`, `{"event":7}`, `{"_tag":7}`,
		// agentloop
		`{"id":"1","type":"response_item","payload":7}`, `{"id":"1","type":"response_item","payload":{"type":"message","role":"nobody","content":7}}`,
		`{"id":"1","type":"response_item","payload":{"type":"of.tomorrow","id":` + huge +
			`}}`, `{"id":"1","type":"loading_state","payload":{"loading":"maybe"}}`,
		`{"id":"1","type":"context_info","payload":{"tokenCount":"many"}}`,
		`{"id":"1","type":"approval_request","payload":{"command":7}}`,
		// effectiveagent
		`{"type":"activity","agentRuntimeId":"` + id + `","activity":` + nested + `}`, `{"type":"activity","agentRuntimeId":"nobody","activity":{"type":"output","payload":"x"}}`,
		`{"type":"activity","agentRuntimeId":"` + id + `","activity":{"sequence":-1,"timestamp":1e300,"type":7,"payload":{"n":1},"metadata":7}}`,
		`{"type":"activity","agentRuntimeId":"` + id + `","activity":{"type":"status","payload":{"a":1},"metadata":{"agentctl":{"event":"caught_up","after":"x:y"}}}}`,
		// multiagent
		`{"type":"message_chunk","conversationId":"nobody","payload":{"messageId":"m","chunk":"x"}}`, `{"type":"message_chunk","conversationId":7,"payload":[]}`,
		`{"type":"tool_executed","conversationId":"nobody","payload":{"requestId":7,"success":"perhaps"}}`, `{"type":"PONG","payload":` + nested + `}`,
		// myagent
		`{"event":"agent.user_confirm","session_id":"nobody","step_id":7,"metadata":{"tasks":{"a":1}}}`, `{"event":"system.notice","content":[{"event":7},7,null],"metadata":{"events":7}}`,
		`{"event":"agent.tool_result","session_id":"` + id + `x","step_id":` + huge + `,"seq":1e300}`, `{"event":"a.b.c.d.plan.completed","session_id":"else","content":{"tasks":[[[]]]}}`,
		// sandcastle
		`{"_tag":"Chunk","requestId":"nope","values":[7]}` + "\n", `{"_tag":"Chunk","requestId":"nope","values":7}` +
			"\n", `{"_tag":"Exit","requestId":"nope","exit":7}` + "\n",
		`{"_tag":"of.tomorrow","a":` + nested + `}` + "\n", "\n\n\n",
	}
}

// An injectingProxy forwards WebSocket messages between a client and a server and can inject frames
// to the client.
type injectingProxy struct {
	t    *testing.T
	dial func(context.Context) (net.Conn, error)
	pipe *server.Pipe

	mu     sync.Mutex
	client *websocket.Conn
	conns  int
}

func newInjectingProxy(t *testing.T, dial func(context.Context) (net.Conn, error)) *injectingProxy {
	b := &injectingProxy{t: t, dial: dial, pipe: server.NewPipe()}
	h := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(b.forward)}
	served := make(chan error, 1)
	go func() { served <- h.Serve(b.pipe.Listener) }()
	t.Cleanup(func() { _ = h.Close(); <-served })
	return b
}

func (b *injectingProxy) forward(rw http.ResponseWriter, r *http.Request) {
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return b.dial(ctx) },
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	up, _, err := websocket.Dial(
		ctx, "ws://server"+r.URL.Path, &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}},
	)
	if err != nil {
		b.t.Error(err)
		return
	}
	down, err := websocket.Accept(rw, r, nil)
	if err != nil {
		b.t.Error(err)
		return
	}
	b.mu.Lock()
	b.client = down
	b.conns++
	b.mu.Unlock()
	var both sync.WaitGroup
	for _, way := range [][2]*websocket.Conn{{up, down}, {down, up}} {
		way[1].SetReadLimit(-1)
		both.Go(func() {
			defer cancel()
			for {
				kind, data, err := way[1].Read(ctx)
				if err != nil || way[0].Write(ctx, kind, data) != nil {
					return
				}
			}
		})
	}
	both.Wait()
	_, _ = up.CloseNow(), down.CloseNow()
}

// inject sends frames to the client, each as text and as binary, once the proxy has accepted it.
func (b *injectingProxy) inject(frames []string) {
	synctest.Wait()
	b.mu.Lock()
	c := b.client
	b.mu.Unlock()
	for _, f := range frames {
		for _, kind := range []websocket.MessageType{websocket.MessageText, websocket.MessageBinary} {
			if err := c.Write(b.t.Context(), kind, []byte(f)); err != nil {
				b.t.Errorf("%.80q ends the connection: %v", f, err)
				return
			}
		}
	}
}

// Invalid frames of a server at any time do not end the client's connection or session, and valid
// frames keep working.
func TestInvalidFramesOfAServerAreIgnored(t *testing.T) {
	for _, name := range dialect.Names() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTestServer(t, workScript...)
				id := w.create(w.client("ann"))
				b := newInjectingProxy(t, w.dial)
				c := w.dialectClient(name, id, func(o *wsclient.Options) { o.Dial = b.pipe.Dial })
				s := follow(t, name, c, id)
				b.inject(invalidFrames(id)) // between turns
				w.send(c, id, "work")
				s.waitFor(protocol.ApprovalRequested)
				b.inject(invalidFrames(id)) // during a turn
				synctest.Wait()
				r := do[protocol.ApproveResult](
					t, c, protocol.DoApprove, id,
					protocol.ApproveData{Request: s.state.Approvals[0].Request, Decision: protocol.AllowOnce},
				)
				if r.Outcome != protocol.Allowed {
					t.Errorf("decided %+v", r)
				}
				s.waitFor(protocol.TurnEnded)
				if got := s.agentText(); got != "It is late. Removed it." {
					t.Errorf("agent text %q", got)
				}
				if got := s.toolSummary(); got != "shell completed" ||
					s.lastTurn().End.Reason != protocol.ReasonCompleted {
					t.Errorf("the tools: %s; ended %+v", got, s.lastTurn().End)
				}
				if b.conns != 1 || len(s.attached) != 1 {
					t.Errorf("%d connections, attached %d times", b.conns, len(s.attached))
				}
			})
		})
	}
}
