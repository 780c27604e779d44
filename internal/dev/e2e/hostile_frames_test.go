package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
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

// listen opens a listener for one dialect, at any path.
func (w *testServer) listen(name string) *server.Pipe {
	p := server.NewPipe()
	p.Dialect = name
	w.server.Load().listen(p.Listener)
	return p
}

// A dialect creates a session in its own way, on its own listener, and the session is visible
// natively.
func TestASessionBeginsInADialect(t *testing.T) {
	for _, name := range []string{"agentloop", "multiagent", "myagent"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTestServer(t, workScript...)
				pipe := w.listen(name)
				c := wsclient.New(
					"ws://server/any/path/fresh", wsclient.Options{Dialect: name, Name: "ann", Dial: pipe.Dial},
				)
				t.Cleanup(func() { _ = c.Close() })
				id := "fresh" // agentloop creates the session of its path with the first message
				if name != "agentloop" {
					id = w.create(c)
				}
				checkWorkTurn(t, w, follow(t, name, c, id))
				all := do[protocol.ListResult](t, w.client("bob"), protocol.DoList, "", nil)
				if len(all.Sessions) != 1 || all.Sessions[0].Session != id && all.Sessions[0].Name != id {
					t.Errorf("made %+v", all.Sessions)
				}
			})
		})
	}
}

// In dialects without session creation an unknown session is an error.
func TestAnUnknownSessionIsNotFoundInADialect(t *testing.T) {
	for _, name := range []string{"effectiveagent", "multiagent", "sandcastle"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTestServer(t, workScript...)
				c := w.dialectClient(name, "nobody")
				_, err := wsclient.Call[protocol.SendResult](
					t.Context(), c, protocol.DoSend, "nobody", protocol.SendData{Text: "x"},
				)
				if protocol.CodeOf(err) != protocol.CodeNoSession {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// hostileFrames returns frames that no correct client sends.
func hostileFrames(id string) []string {
	deep := strings.Repeat("[", 100_000)
	list := []string{
		"", " ", "\n", "{", "}", "null", "0", `""`, "[]", "{}", "\xff\xfe", `"\ud800"`, deep, strings.Repeat(`{"a":`,
			50_000), `{"type":null}`,
		`{"type":{}}`, `{"type":"` + strings.Repeat("x", 200_000) +
			`"}`, `{"id":1e999}`, `{"_tag":"Request"}`, `{"_tag":"Interrupt","requestId":"1"}`,
		`{"event":"user.message"}`, `{"event":7,"session_id":[]}`,
		`{"event":"user.reconnect_with_state","session_id":"` + id + `","signed_state":"x"}`,
		`{"type":"approve_tool","conversationId":"` + id + `","requestId":"nope","payload":{"approved":true}}`,
		`{"id":"1","type":"approval_response","payload":{"decision":"yes"}}`,
		`{"type":"send","targetAgentRuntimeId":"` + id + `","payload":{"payload":{"a":` + strings.Repeat("[", 20_000) +
			`}}}`,
		`{"type":"subscribe","agentRuntimeId":"` + strings.Repeat("r", 10_000) + `"}`,
		`{"_tag":"Request","id":"9","tag":"chat.send","payload":{"sessionId":"` + id + `","parts":7},"headers":[]}`,
		`{"event":"user.ack","session_id":"` + id + `","content":{"last_seq":-9e99}}`,
	}
	for i := range 32 {
		list = append(
			list,
			fmt.Sprintf(
				`{"type":"%c","id":%d,"event":"%c","_tag":"%c"}`, 'a'+rune(i%26), i, 'a'+rune(i%26), 'a'+rune(i%26),
			),
		)
	}
	return list
}

// sendHostileFrames sends all hostile frames of a dialect as text and binary, and one message over
// the size limit. It ignores answers.
func (w *testServer) sendHostileFrames(t *testing.T, name, id string) {
	t.Helper()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return w.dial(ctx) },
	}
	for _, kind := range []websocket.MessageType{websocket.MessageText, websocket.MessageBinary} {
		conn, _, err := websocket.Dial(
			t.Context(),
			"ws://server/dialect/"+name+"/"+id,
			&websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}},
		)
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan struct{})
		go func() {
			defer close(read)
			conn.SetReadLimit(-1)
			for {
				if _, _, err := conn.Read(t.Context()); err != nil {
					return
				}
			}
		}()
		for _, frame := range append(hostileFrames(id), strings.Repeat("x", 2<<20)) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			err := conn.Write(ctx, kind, []byte(frame))
			cancel()
			if err != nil && len(frame) < 1<<20 {
				t.Errorf("%s: %.80q ends the connection: %v", name, frame, err)
				break
			}
		}
		_ = conn.CloseNow()
		<-read
	}
}

func TestHostileFramesAffectNoOther(t *testing.T) {
	for _, name := range dialect.Names() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTestServer(t, append(workScript, `{"on":"*"}`, `{"say":"ok"}`)...)
				ann := w.client("ann")
				id := w.create(ann)
				s := follow(t, name, w.dialectClient(name, id), id)
				w.sendHostileFrames(t, name, id)
				waitIdle(t, ann, id)
				bystander := follow(t, native, w.client("bob"), id)
				w.send(bystander.client, id, "work")
				for _, each := range []*follower{s, bystander} {
					each.waitFor(protocol.ApprovalRequested) // skip output caused by hostile frames
				}
				do[protocol.ApproveResult](
					t, bystander.client, protocol.DoApprove, id, protocol.ApproveData{Decision: protocol.AllowOnce},
				)
				for _, each := range []*follower{s, bystander} {
					if each.waitFor(protocol.TurnEnded); each.agentText() != "It is late. Removed it." {
						t.Errorf("%s: agent text %q", each.dialect, each.agentText())
					}
				}
			})
		})
	}
}

// waitIdle waits until a session is idle.
func waitIdle(t *testing.T, c *wsclient.Client, id string) {
	t.Helper()
	for {
		synctest.Wait()
		if do[protocol.SnapshotResult](t, c, protocol.DoSnapshot, id, nil).Status == protocol.Idle {
			return
		}
		time.Sleep(time.Second)
	}
}

// A large amount of text arrives complete in every dialect, over unbuffered connections.
func TestLargeOutputArrivesCompleteInEveryDialect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, `{"on":"*"}`, `{"burst":3000,"size":500}`)
		ann := w.client("ann")
		id := w.create(ann)
		var followers []*follower
		for _, name := range append([]string{native}, dialect.Names()...) {
			followers = append(followers, follow(t, name, w.dialectClient(name, id), id))
		}
		synctest.Wait() // not every dialect confirms a subscription
		w.send(ann, id, "go")
		for _, s := range followers {
			s.waitFor(protocol.TurnEnded)
			if got, want := s.agentText(), followers[0].agentText(); got != want || len(want) < 3000*400 {
				t.Errorf("%s: %d bytes, natively %d", s.dialect, len(got), len(want))
			}
		}
	})
}
