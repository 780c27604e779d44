package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

// A dialectConn is a connection of a third-party client that writes dialect frames by hand.
type dialectConn struct {
	t    testing.TB
	conn *websocket.Conn
}

func dialDialect(t testing.TB, url string, dial func(context.Context) (net.Conn, error)) *dialectConn {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	if dial != nil {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	}
	conn, _, err := websocket.Dial(
		t.Context(), url, &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}},
	)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return &dialectConn{t, conn}
}

func (f *dialectConn) mustWrite(frame string) {
	f.t.Helper()
	if err := f.write(frame); err != nil {
		f.t.Fatal(err)
	}
}

func (f *dialectConn) write(frame string) error {
	return f.conn.Write(f.t.Context(), websocket.MessageText, []byte(frame))
}

// read returns the next frame.
func (f *dialectConn) read() []byte {
	f.t.Helper()
	_, data, err := f.conn.Read(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return data
}

// EA-6 to EA-21, EA-26: EffectiveAgent clients on the whole stack: commands in, activities to all
// subscribers, structured errors only to their cause, and isolation between clients.
func TestEffectiveAgentsClientsOnTheWholeStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, `{"on":"*"}`, `{"say":"You said: {message}"}`)
		ann := w.client("ann")
		one, two := w.create(ann), w.create(ann)
		pipe := w.listen("effectiveagent")
		asks, looks, bad := dialDialect(
			t, "ws://localhost:12345/mock", pipe.Dial,
		), dialDialect(
			t, "ws://localhost:12345/mock", pipe.Dial,
		), dialDialect(
			t, "ws://localhost:12345/mock", pipe.Dial,
		)
		for _, f := range []*dialectConn{asks, looks} {
			for _, id := range []string{one, two, one} { // several runtimes; subscribing again has no effect
				f.mustWrite(`{"type":"subscribe","agentRuntimeId":"` + id + `"}`)
			}
		}
		synctest.Wait()

		for _, c := range []struct{ frame, code, names string }{
			{`{"type":`, "PARSE_ERROR", ""},
			{`{"type":"dance"}`, "UNKNOWN_MESSAGE_TYPE", "dance"},
			{`{"type":"subscribe"}`, "VALIDATION_ERROR", "agentRuntimeId"},
			{`{"type":"send","targetAgentRuntimeId":"nobody","payload":{"type":"input","payload":"x"}}`, "AGENT_RUNTIME_SEND_FAILED", "nobody"},
			{`{"type":"subscribe","agentRuntimeId":"nobody"}`, "AGENT_RUNTIME_SUBSCRIBE_FAILED", "nobody"},
		} {
			bad.mustWrite(c.frame)
			var e map[string]any
			if err := json.Unmarshal(bad.read(), &e); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprint(e["message"])
			if e["type"] != "error" || e["code"] != c.code || !strings.Contains(text, c.names) {
				t.Errorf("%s: answer %v", c.frame, e)
			}
			for _, inside := range []string{"goroutine", ".go:", "sqlite", w.dir} {
				if strings.Contains(fmt.Sprint(e), inside) {
					t.Errorf("%s reveals internal detail: %v", c.frame, e)
				}
			}
		}

		// turn reads a follower's frames of one turn of a runtime.
		turn := func(f *dialectConn, id string) (kinds, text string) {
			t.Helper()
			last := uint64(0)
			for {
				var m struct {
					Type, AgentRuntimeID string
					Activity             struct {
						Sequence       uint64
						Timestamp      string
						Type           string
						AgentRuntimeID string
						Payload        struct{ Text, Reason string }
					}
				}
				if err := json.Unmarshal(f.read(), &m); err != nil {
					t.Fatal(err)
				}
				a := m.Activity
				if m.Type != "activity" || m.AgentRuntimeID != id || a.AgentRuntimeID != id ||
					last != 0 && a.Sequence != last+1 ||
					!strings.HasSuffix(a.Timestamp, "Z") {
					t.Fatalf("activity %+v after %d", m, last)
				}
				last = a.Sequence
				kinds += a.Type[:1]
				if a.Type == "output" {
					text += a.Payload.Text
				}
				if a.Payload.Reason != "" {
					return kinds, text
				}
			}
		}
		asks.mustWrite(
			`{"type":"send","targetAgentRuntimeId":"` + one + `","payload":{"sequence":1,"timestamp":"2024-07-29T10:00:00.000Z","type":"input","payload":"hello","agentRuntimeId":"` + one + `"}}`,
		)
		for _, f := range []*dialectConn{asks, looks} {
			if kinds, text := turn(f, one); text != "You said: hello" || !strings.HasPrefix(kinds, "is") ||
				strings.Contains(kinds, "e") {
				t.Errorf("got %s: %q", kinds, text)
			}
		}
		// Unsubscribing from one runtime keeps the others; closing the connection ends all.
		looks.mustWrite(`{"type":"unsubscribe","agentRuntimeId":"` + one + `"}`)
		_ = bad.conn.CloseNow()
		synctest.Wait()
		w.send(ann, one, "to one")
		w.send(ann, two, "to two")
		if _, text := turn(looks, two); text != "You said: to two" {
			t.Errorf("got %q", text)
		}
		clients := do[protocol.SnapshotResult](t, ann, protocol.DoSnapshot, one, nil).Clients
		if len(clients) != 1 {
			t.Errorf("%d clients follow the first, want the one that stayed: %+v", len(clients), clients)
		}
	})
}
