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

// restartEmpty ends a world's server and starts it again without what it stored.
func (w *testServer) restartEmpty() {
	w.stop()
	w.dir = w.t.TempDir()
	w.start()
}

// MY-33 to MY-35: a server of ours that lost its store gives the session back to a client that has its exported state: the log goes on under
// its name, with what was asked of the agent since, and a turn that was under way is over. Who has no state is told that the session is gone.
func TestALostStoreCostsNoSessionThatWasExported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, `{"on":"hang"}`, `{"say":"working"}`, `{"ask":"command","request":"r{n}","command":"ls","title":"List"}`, `{"on":"*"}`, `{"say":"turn {n}, heard {message}","words":1}`)
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
		if at := s.attached[len(s.attached)-1]; at.Mode != protocol.ModeResume || at.Reason != protocol.ResumeRestored || at.Session != id {
			t.Errorf("attached by %s %s as %s", at.Mode, at.Reason, at.Session)
		}
		if end := s.lastTurn().End; s.state.Turn != nil || end.Reason != protocol.ReasonError || end.Code != protocol.CodeServerRestart {
			t.Errorf("the turn under way ended %+v", end)
		}
		if len(s.state.Queue) != 0 || len(s.state.Approvals) != 0 {
			t.Errorf("the server is believed to have %+v and %+v", s.state.Queue, s.state.Approvals)
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

		// Cut again, it goes on from where it was, in the session that the server has now.
		proxy.cut()
		time.Sleep(time.Second)
		proxy.restore()
		s.waitFor(protocol.CaughtUp)
		if at := s.attached[len(s.attached)-1]; at.Mode != protocol.ModeResume || at.Reason != protocol.ResumeReplayed {
			t.Errorf("attached by %s %s", at.Mode, at.Reason)
		}
	})
}

// A stranger is a client of MyAgent's by hand.
type myAgentConn struct {
	t    *testing.T
	conn *websocket.Conn
}

func (w *testServer) dialMyAgent(t *testing.T) *myAgentConn {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return w.dial(ctx) }}
	conn, _, err := websocket.Dial(t.Context(), "ws://server/dialect/myagent", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
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

// A strange frame is what a test looks at of one.
type strange struct {
	Event   string
	Session string `json:"session_id"`
	Content any
}

func (s *myAgentConn) next() (f strange) {
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

// until reads through the first frame of an event.
func (s *myAgentConn) until(event string) strange {
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
	return strange{}
}

// MY-14, MY-16, MY-25: a client of MyAgent's says all that it has to say at once, and is told when the session is deleted under it.
func TestAMyAgentClientNeedNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, `{"on":"*"}`, `{"say":"heard {message}"}`)
		c := w.dialMyAgent(t)
		c.write(`{"event":"user.create_session","content":"a"}`, `{"event":"user.message","content":"one"}`,
			`{"event":"user.create_session","content":"b"}`, `{"event":"user.message","content":"two"}`)
		var made []string
		heard := map[string]any{}
		for len(heard) < 2 {
			switch f := c.next(); f.Event {
			case "system.heartbeat":
				t.Fatalf("made %v, heard %v", made, heard)
			case "agent.session_created":
				made = append(made, f.Session)
			case "agent.final_answer":
				heard[f.Session] = f.Content
			}
		}
		first, second := made[0], made[1]
		if heard[first] != "heard one" || heard[second] != "heard two" {
			t.Errorf("made %v, heard %v", made, heard)
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
