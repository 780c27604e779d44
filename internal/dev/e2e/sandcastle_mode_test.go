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

// A sandcastleConn is a Sandcastle connection that writes requests by hand.
type sandcastleConn struct {
	t    *testing.T
	conn *websocket.Conn
	last int
}

func (w *testServer) dialSandcastle(t *testing.T) *sandcastleConn {
	t.Helper()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return w.dial(ctx) },
	}
	conn, _, err := websocket.Dial(t.Context(), "ws://server/dialect/sandcastle",
		&websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return &sandcastleConn{t: t, conn: conn}
}

// request sends a request and returns its exit.
func (s *sandcastleConn) request(tag, payload string) string {
	s.t.Helper()
	s.last++
	frame := fmt.Sprintf(`{"_tag":"Request","id":"%d","tag":%q,"payload":%s,"headers":[]}`+"\n", s.last, tag, payload)
	if err := s.conn.Write(s.t.Context(), websocket.MessageText, []byte(frame)); err != nil {
		s.t.Fatal(err)
	}
	_, data, err := s.conn.Read(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	var m struct{ Exit json.RawMessage }
	if err := json.Unmarshal(data, &m); err != nil {
		s.t.Fatalf("%v: %s", err, data)
	}
	return string(m.Exit)
}

// send sends a message in a mode and returns the exit.
func (s *sandcastleConn) send(session, text, mode string) string {
	s.t.Helper()
	p := map[string]string{"sessionId": session, "content": text, "clientMessageId": "client-1-" + text}
	if mode != "" {
		p["mode"] = mode
	}
	return s.request("chat.send", string(protocol.MustEncode(p)))
}

// texts returns what the agent said in each turn of a session.
func texts(t *testing.T, w *testServer, id string) (list []string) {
	t.Helper()
	c := w.client("reader")
	page := do[protocol.HistoryResult](t, c, protocol.DoHistory, id, protocol.HistoryData{Limit: 100})
	var tr protocol.Transcript
	for _, line := range page.Events {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	for _, turn := range tr.Turns {
		text := ""
		for _, it := range turn.Items {
			if it.Kind == protocol.ItemText {
				text += it.Text.String()
			}
		}
		list = append(list, text)
	}
	return list
}

const modeAgent = `{"agent":"modes","settings":[{"id":"mode","value":"default",` +
	`"choices":[{"id":"default","label":"Default"},{"id":"plan","label":"Plan"}]}]}`

// The first message of a session starts the agent. Its turn must be in mode plan: an agent that
// builds writes files.
func TestAFirstSandcastleMessageInModePlanRunsInIt(t *testing.T) {
	for _, by := range []string{"id", "name"} {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTestServer(t, modeAgent, `{"on":"*"}`, `{"say":"{message} in {mode}"}`)
				ann := w.client("ann")
				r := do[protocol.CreateResult](t, ann, protocol.DoCreate, "", protocol.CreateData{Name: "barn"})
				session := map[string]string{"id": r.Session, "name": "barn"}[by]
				c := w.dialSandcastle(t)
				for _, m := range [][2]string{
					{"one", "plan"}, {"two", ""}, {"three", "plan"}, {"four", "plan"}, {"five", "build"},
				} {
					if exit := c.send(session, m[0], m[1]); !strings.Contains(exit, `"started"`) {
						t.Fatalf("%s: %s", m, exit)
					}
					waitIdle(t, ann, r.Session)
				}
				want := "one in plan, two in default, three in plan, four in plan, five in default"
				if got := strings.Join(texts(t, w, r.Session), ", "); got != want {
					t.Errorf("got %s\nwant %s", got, want)
				}
			})
		})
	}
}

func TestASandcastleMessageThatCannotHaveModePlanIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, modeAgent, `{"on":"*"}`, `{"sleep":"1m"}`, `{"say":"{message} in {mode}"}`)
		w.agents.add(t, "simple", `{"on":"*"}`, `{"say":"{message}"}`)
		ann := w.client("ann")
		simple := do[protocol.CreateResult](t, ann, protocol.DoCreate, "", protocol.CreateData{Agent: "simple"}).Session
		c := w.dialSandcastle(t)
		if exit := c.send(simple, "one", "plan"); !strings.Contains(exit, "the agent does not change to mode plan") {
			t.Errorf("without the mode: %s", exit)
		}
		busy := w.create(ann)
		w.send(ann, busy, "first")
		if exit := c.send(busy, "second", "plan"); !strings.Contains(exit, "cannot wait in the queue") {
			t.Errorf("during a turn: %s", exit)
		}
		waitIdle(t, ann, busy)
		if got := append(texts(t, w, simple), texts(t, w, busy)...); len(got) != 1 || got[0] != "first in default" {
			t.Errorf("turns %q", got)
		}
	})
}
