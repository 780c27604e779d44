package e2e

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// restartEmpty restarts the server with an empty store.
func (w *testServer) restartEmpty() {
	w.stop()
	w.dir = w.t.TempDir()
	w.start()
}

// MY-33 to MY-35: after the loss of its store, the server restores a session from a client's
// exported state: the log continues under the same name with the messages sent since, and the turn
// that ran has ended. Without exported state the session is lost.
func TestALostStoreCostsNoSessionThatWasExported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(
			t,
			`{"on":"hang"}`,
			`{"say":"working"}`,
			`{"ask":"command","request":"r{n}","command":"ls","title":"List"}`,
			`{"on":"*"}`,
			`{"say":"turn {n}, heard {message}","words":1}`,
		)
		id := w.create(w.client("ann"))
		proxy := newCutProxy(w)
		slow := func(o *wsclient.Options) { o.Dial, o.Rand = proxy.Dial, func() float64 { return 0 } }
		c := w.dialectClient("myagent", id, slow)
		s := follow(t, "myagent", c, id)
		w.send(c, id, "one")
		s.waitFor(protocol.TurnEnded)
		do[protocol.ExportResult](t, c, protocol.DoExport, id, nil)
		w.send(c, id, "two")
		s.waitFor(protocol.TurnEnded)
		w.send(c, id, "hang")
		s.waitFor(protocol.ApprovalRequested)
		w.send(c, id, "three")
		s.waitFor(protocol.QueueAdded)

		proxy.cut()
		w.restartEmpty()
		proxy.restore()
		s.waitFor(protocol.CaughtUp)
		if at := s.attached[len(s.attached)-1]; at.Mode != protocol.ModeResume ||
			at.Reason != protocol.ResumeRestored ||
			at.Session != id {
			t.Errorf("attached by %s %s as %s", at.Mode, at.Reason, at.Session)
		}
		if end := s.lastTurn().End; s.state.Turn != nil || end.Reason != protocol.ReasonError ||
			end.Code != protocol.CodeServerRestart {
			t.Errorf("the running turn ended %+v", end)
		}
		if len(s.state.Queue) != 0 || len(s.state.Approvals) != 0 {
			t.Errorf("queue %+v, approvals %+v", s.state.Queue, s.state.Approvals)
		}
		w.send(c, id, "four")
		s.waitFor(protocol.TurnEnded)
		for i, want := range []string{"heard one", "heard two", "working", "heard four"} {
			if got := summarizeTurn(s.transcript.Turns[i]); !strings.Contains(got, want) {
				t.Errorf("turn %d: %s", i+1, got)
			}
		}
		list := do[protocol.ListResult](t, w.client("bob"), protocol.DoList, "", nil)
		if len(list.Sessions) != 1 || list.Sessions[0].Session == id {
			t.Errorf("the server has %+v", list.Sessions)
		}

		// After another cut the client resumes in the server's new session.
		proxy.cut()
		time.Sleep(time.Second)
		proxy.restore()
		s.waitFor(protocol.CaughtUp)
		if at := s.attached[len(s.attached)-1]; at.Mode != protocol.ModeResume || at.Reason != protocol.ResumeReplayed {
			t.Errorf("attached by %s %s", at.Mode, at.Reason)
		}
	})
}

// A myAgentConn is a MyAgent connection that writes frames by hand.
type myAgentConn struct {
	t    *testing.T
	conn *websocket.Conn
}

func (w *testServer) dialMyAgent(t *testing.T) *myAgentConn {
	t.Helper()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return w.dial(ctx) },
	}
	conn, _, err := websocket.Dial(
		t.Context(),
		"ws://server/dialect/myagent",
		&websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return &myAgentConn{t, conn}
}

func (s *myAgentConn) write(frames ...string) {
	s.t.Helper()
	for _, f := range frames {
		if err := s.conn.Write(s.t.Context(), websocket.MessageText, []byte(f)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// A myAgentFrame holds the fields of a frame that the tests check.
type myAgentFrame struct {
	Event   string
	Session string `json:"session_id"`
	Step    string `json:"step_id"`
	Content any
	Meta    struct {
		Scope string
		Tasks []any
	} `json:"metadata"`
}

func (s *myAgentConn) next() (f myAgentFrame) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	_, b, err := s.conn.Read(ctx)
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return f
}

// until reads up to the first frame of an event.
func (s *myAgentConn) until(event string) myAgentFrame {
	s.t.Helper()
	for beats := 0; beats < 3; {
		switch f := s.next(); f.Event {
		case event:
			return f
		case "system.heartbeat":
			beats++
		}
	}
	s.t.Fatalf("no %s", event)
	return myAgentFrame{}
}

// MY-14, MY-16, MY-25: a MyAgent client may send all its frames without waiting, and is notified
// when its session is deleted.
func TestAMyAgentClientNeedNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, `{"on":"*"}`, `{"say":"heard {message}"}`)
		c := w.dialMyAgent(t)
		c.write(`{"event":"user.create_session","content":"a"}`, `{"event":"user.message","content":"one"}`,
			`{"event":"user.create_session","content":"b"}`, `{"event":"user.message","content":"two"}`)
		var created []string
		answers := map[string]any{}
		for len(answers) < 2 {
			switch f := c.next(); f.Event {
			case "system.heartbeat":
				t.Fatalf("created %v, answers %v", created, answers)
			case "agent.session_created":
				created = append(created, f.Session)
			case "agent.final_answer":
				answers[f.Session] = f.Content
			}
		}
		first, second := created[0], created[1]
		if answers[first] != "heard one" || answers[second] != "heard two" {
			t.Errorf("created %v, answers %v", created, answers)
		}
		do[protocol.Empty](t, w.client("ann"), protocol.DoClose, first, protocol.CloseData{Delete: true})
		if f := c.until("agent.session_end"); f.Session != first {
			t.Errorf("%s ended", f.Session)
		}
		c.write(`{"event":"user.message","session_id":"` + first + `","content":"three"}`)
		if f := c.until("agent.error"); f.Content != "Session not found" {
			t.Errorf("answered %v", f.Content)
		}
		c.write(`{"event":"user.message","session_id":"` + second + `","content":"four"}`)
		if f := c.until("agent.final_answer"); f.Session != second || f.Content != "heard four" {
			t.Errorf("%+v", f)
		}
	})
}
