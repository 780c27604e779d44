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
	"unicode/utf8"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A rawConn is a native connection without the client library.
type rawConn struct {
	t    *testing.T
	conn *websocket.Conn
	in   []string // unread lines
}

// httpClient returns a client whose connections dial makes.
func httpClient(dial func(context.Context) (net.Conn, error)) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}}
}

func (w *testServer) dialRaw(t *testing.T) *rawConn {
	t.Helper()
	return dialRaw(t, w.dial)
}

func dialRaw(t *testing.T, dial func(context.Context) (net.Conn, error)) *rawConn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), "ws://server"+protocol.Path, &websocket.DialOptions{
		HTTPClient: httpClient(dial), Subprotocols: []string{protocol.Subprotocol},
	})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(16 << 20)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return &rawConn{t: t, conn: conn}
}

func (p *rawConn) write(typ websocket.MessageType, message string) {
	p.t.Helper()
	if err := p.conn.Write(p.t.Context(), typ, []byte(message)); err != nil {
		p.t.Fatal(err)
	}
}

// readAnswer returns the next answer and skips events.
func (p *rawConn) readAnswer() *protocol.Answer {
	p.t.Helper()
	for {
		for len(p.in) > 0 {
			line := p.in[0]
			p.in = p.in[1:]
			if _, a, err := protocol.DecodeIncoming([]byte(line)); err != nil {
				p.t.Fatal(err)
			} else if a != nil {
				return a
			}
		}
		_, message, err := p.conn.Read(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		p.in = strings.Split(strings.TrimSpace(string(message)), "\n")
	}
}

func TestBadInputGetsItsErrorAndAffectsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, `{"on":"*"}`, `{"say":"ok"}`)
		ann := w.client("ann")
		id := w.create(ann)
		bystander := async(func() *observer {
			return observe(t.Context(), ann, id, wsclient.SubscribeOptions{Since: logStart(), Raw: true}, turnsEnded(1))
		})
		p := w.dialRaw(t)
		for _, c := range []struct {
			name, message string
			binary        bool
			code          protocol.Code
			id            string
		}{
			{name: "not JSON", message: `{"id":"1",`, code: protocol.CodeInvalidJSON},
			{name: "an array", message: `[]`, code: protocol.CodeInvalidMessage},
			{name: "invalid UTF-8", message: "{\"id\":\"2\",\"command\":\"ping\xff\"}", code: protocol.CodeInvalidJSON},
			{
				name: "wrong types", message: `{"id":"3","command":"send","session":"` + id + `","data":{"text":5}}`,
				code: protocol.CodeInvalidMessage, id: "3",
			},
			{
				name: "a number for a command", message: `{"id":"4","command":7}`, code: protocol.CodeInvalidMessage,
				id: "4",
			},
			{
				name: "an unknown field", message: `{"id":"5","command":"ping","zeal":1}`,
				code: protocol.CodeInvalidMessage, id: "5",
			},
			{
				name: "unknown command", message: `{"id":"6","command":"dance"}`, code: protocol.CodeUnknownCommand,
				id: "6",
			},
			{
				name: "unknown session", message: `{"id":"7","command":"send","session":"nobody","data":{"text":"x"}}`,
				code: protocol.CodeNoSession, id: "7",
			},
			{
				name: "no session", message: `{"id":"8","command":"send","data":{"text":"x"}}`,
				code: protocol.CodeInvalidMessage, id: "8",
			},
			{name: "binary", message: `{"id":"9","command":"ping"}`, binary: true, code: protocol.CodeInvalidJSON},
			{name: "malformed position", message: `{"id":"10","command":"subscribe","session":"` + id +
				`","data":{"position":"x:y"}}`, code: protocol.CodeInvalidPosition, id: "10"},
			{
				name: "empty send", message: `{"id":"12","command":"send","session":"` + id + `"}`,
				code: protocol.CodeInvalidMessage, id: "12",
			},
			{name: "a long key", message: `{"id":"13","command":"send","session":"` + id + `","key":"` +
				strings.Repeat("k", 200) + `","data":{"text":"x"}}`, code: protocol.CodeInvalidMessage, id: "13"},
			{name: "nested deep", message: `{"id":"14","command":"ping","data":` + strings.Repeat(`{"a":`, 5000) + "1" +
				strings.Repeat("}", 5000) + "}", code: protocol.CodeInvalidMessage, id: "14"},
		} {
			typ := websocket.MessageText
			if c.binary {
				typ = websocket.MessageBinary
			}
			p.write(typ, c.message)
			a := p.readAnswer()
			if a.Error == nil || a.Error.Code != c.code || a.ID != c.id {
				t.Errorf("%s: %+v, %+v; want %s", c.name, a, a.Error, c.code)
			}
			p.write(websocket.MessageText, `{"id":"ping","command":"ping"}`)
			if a := p.readAnswer(); a.ID != "ping" || a.Error != nil {
				t.Errorf("after %s: %+v, %+v", c.name, a, a.Error)
			}
		}

		for i, c := range []struct{ position, reason string }{
			{"zzzz:1", protocol.ResetEpoch},
			{"1000000", protocol.ResetPastEnd},
		} {
			p.write(
				websocket.MessageText,
				fmt.Sprintf(
					`{"id":"s%d","command":"subscribe","session":%q,"data":{"position":%q}}`, i, id, c.position,
				),
			)
			a := p.readAnswer()
			var r protocol.SubscribeResult
			if err := json.Unmarshal(a.Result, &r); err != nil || r.Mode != protocol.ModeReset ||
				r.Reason != c.reason ||
				r.Snapshot == nil {
				t.Errorf("position %s: %+v, %v", c.position, r, err)
			}
		}

		big := w.dialRaw(t)
		sent := async(func() error {
			return big.conn.Write(
				t.Context(),
				websocket.MessageText,
				[]byte(
					`{"id":"b","command":"send","session":"`+id+`","data":{"text":"`+strings.Repeat("x", 10<<20)+`"}}`,
				),
			)
		})
		a := big.readAnswer()
		if a.Error == nil || a.Error.Code != protocol.CodeTooLarge || a.Error.Limit != protocol.MaxMessage {
			t.Errorf("10 MiB: %+v, %+v", a, a.Error)
		}
		if _, _, err := big.conn.Read(t.Context()); websocket.CloseStatus(err) != protocol.CloseTooLarge {
			t.Errorf("after 10 MiB: %v", err)
		}
		if err := <-sent; err != nil {
			t.Logf("the server stopped reading: %v", err)
		}

		w.send(ann, id, "still there?")
		got := <-bystander
		if got.err != nil || got.text() != "ok" || len(got.transcript.Turns) != 1 {
			t.Errorf("the bystander: %v, %q, %d turns", got.err, got.text(), len(got.transcript.Turns))
		}
	})
}

func TestAgentOutputReachesTheLogAsValidUTF8(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(
			t,
			`{"on":"*"}`,
			`{"bytes":"aP/+aA=="}`,
			`{"bytes":"4pyT4pw="}`,
			`{"say":"✓","times":100000,"runes":100000}`,
		)
		ann := w.client("ann")
		id := w.create(ann)
		w.send(ann, id, "go")
		got := mustObserve(t, ann, id, wsclient.SubscribeOptions{Since: logStart(), Raw: true}, turnsEnded(1))
		for _, line := range got.raw {
			if !utf8.ValidString(line) || len(line) > protocol.MaxEvent {
				t.Errorf("%d bytes: %.100q", len(line), line)
			}
		}
		text := got.text()
		if !strings.HasPrefix(text, "h\uFFFDh✓\uFFFD✓") && !strings.HasPrefix(text, "h\uFFFD\uFFFDh✓\uFFFD✓") {
			t.Errorf("%.40q", text)
		}
		if n := strings.Count(text, "✓"); n != 100_001 {
			t.Errorf("%d of 100001 runes", n)
		}
	})
}
