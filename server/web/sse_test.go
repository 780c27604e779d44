package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

// follows checks that events follow a seq without gap or repeat, each with its position as id, and
// returns the last seq.
func follows(t *testing.T, epoch string, after uint64, got []receivedEvent) uint64 {
	t.Helper()
	for _, e := range got {
		if e.First() != after+1 {
			t.Fatalf("event %d (from %d) follows %d", e.Seq, e.First(), after)
		}
		if want := (protocol.Position{Epoch: epoch, Seq: e.Seq}).String(); e.id != want || e.name != "" {
			t.Fatalf("event %d has name %q and id %s, want none and %s", e.Seq, e.name, e.id, want)
		}
		after = e.Seq
	}
	return after
}

func TestStreamTellsEveryEventAndThenWhatIsLive(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		at := w.snapshot(id).Snapshot
		s := w.stream("/api/sessions/" + id + "/events")
		if last := follows(t, at.Epoch, 0, s.received()); last != at.State.Seq {
			t.Errorf("the stream is at %d, the session at %d", last, at.State.Seq)
		}
		w.do(protocol.DoSend, id, protocol.SendData{Text: "few"})
		live := s.received()
		follows(t, at.Epoch, at.State.Seq, live)
		if len(live) < 100 || live[len(live)-1].Type != protocol.TurnEnded {
			t.Errorf("%d live events", len(live))
		}
	})
}

func TestLastEventIDResumes(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		at := w.snapshot(id).Snapshot
		for seq := uint64(0); seq <= at.State.Seq; seq += 5 {
			position := protocol.Position{Epoch: at.Epoch, Seq: seq}.String()
			for _, s := range []*stream{
				w.stream("/api/sessions/"+id+"/events?since=0", "Last-Event-ID", position), // like a browser
				w.stream("/api/sessions/" + id + "/events?since=" + position),
				w.stream(fmt.Sprintf("/api/sessions/%s/events?since=%d", id, seq)),
			} {
				if last := follows(t, at.Epoch, seq, s.received()); last != at.State.Seq {
					t.Errorf("the stream after %s is at %d, the session at %d", position, last, at.State.Seq)
				}
				_ = s.resp.Body.Close()
			}
		}
	})
}

func TestPositionThatDoesNotHoldIsReset(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		w.do(protocol.DoSend, id, protocol.SendData{Text: "hang"})
		at := w.snapshot(id).Snapshot
		for position, reason := range map[string]string{
			"abc:3": protocol.ResetEpoch,
			fmt.Sprintf("%s:%d", at.Epoch, at.State.Seq+1): protocol.ResetPastEnd,
		} {
			s := w.stream("/api/sessions/"+id+"/events", "Last-Event-ID", position)
			got := s.received()
			if len(got) == 0 || got[0].name != "reset" {
				t.Fatalf("after %s: %v", position, got)
			}
			var r protocol.SubscribeResult
			must(t, json.Unmarshal(got[0].data, &r))
			if r.Reason != reason || r.Snapshot == nil || r.Snapshot.State.Seq != r.After.Seq ||
				got[0].id != r.After.String() {
				t.Errorf("reset %+v with id %s", r, got[0].id)
			}
			if last := follows(t, at.Epoch, r.After.Seq, got[1:]); last != at.State.Seq {
				t.Errorf("the stream is at %d, the session at %d", last, at.State.Seq)
			}
		}
	})
}

func TestResetIsToldAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few") // no events after its snapshot
		begun := time.Now()
		s := w.stream("/api/sessions/"+id+"/events", "Last-Event-ID", "abc:3")
		if took := time.Since(begun); took > 0 {
			t.Errorf("headers after %v", took)
		}
		if got := s.received(); len(got) != 1 || got[0].name != "reset" {
			t.Errorf("received %v", got)
		}
	})
}

func TestFoldIsForThoseWhoAsk(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		at := w.snapshot(id).Snapshot
		raw := w.stream("/api/sessions/" + id + "/events").received()
		folded := w.stream("/api/sessions/" + id + "/events?fold=1").received()
		follows(t, at.Epoch, 0, raw)
		if last := follows(t, at.Epoch, 0, folded); last != at.State.Seq || len(folded) > 20 || len(raw) != int(last) {
			t.Errorf("%d events raw, %d folded, up to %d", len(raw), len(folded), last)
		}
	})
}

func TestStreamBeginsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		begun := time.Now()
		s := w.stream(fmt.Sprintf("/api/sessions/%s/events?since=%d", id, w.snapshot(id).Snapshot.State.Seq))
		if took := time.Since(begun); took > 0 {
			t.Errorf("headers after %v", took)
		}
		time.Sleep(5*time.Minute + time.Second)
		synctest.Wait()
		if s.pings != 10 {
			t.Errorf("%d pings in five minutes, want 10", s.pings)
		}
	})
}

func TestStreamIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		for path, want := range map[string]struct {
			status int
			code   protocol.Code
		}{
			"/api/sessions/" + id + "/events?since=x":  {400, protocol.CodeInvalidPosition},
			"/api/sessions/" + id + "/events?since=-1": {400, protocol.CodeInvalidPosition},
			"/api/sessions/s_none/events":              {404, protocol.CodeNoSession},
		} {
			if want.status != 0 {
				refused(t, w.request("GET", path), want.status, want.code)
			}
		}
		refused(
			t,
			w.request("GET", "/api/sessions/"+id+"/events", "Last-Event-ID", "abc:"),
			400,
			protocol.CodeInvalidPosition,
		)
	})
}

func refused(t *testing.T, resp *http.Response, status int, code protocol.Code) {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	must(t, err)
	var body struct {
		Error protocol.Error `json:"error"`
	}
	if err := json.Unmarshal(b, &body); err != nil || resp.StatusCode != status || body.Error.Code != code ||
		body.Error.Message == "" {
		t.Errorf("%s: %d %s, want %d %s", resp.Request.URL, resp.StatusCode, b, status, code)
	}
}

func TestFollowerIsPresentWhileItReads(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		s := w.stream("/api/sessions/" + id + "/events")
		s.received()
		at := w.snapshot(id)
		if len(at.Clients) != 1 || at.Clients[0].Agent != "sse" || at.Clients[0].By.Name == "" {
			t.Fatalf("clients %+v", at.Clients)
		}
		if acked := at.Clients[0].Acked; acked != at.Snapshot.State.Seq {
			t.Errorf("the client is at %d, the session at %d", acked, at.Snapshot.State.Seq)
		}
		_ = s.resp.Body.Close()
		synctest.Wait()
		if at := w.snapshot(id); len(at.Clients) != 0 {
			t.Errorf("clients after the stream closed: %+v", at.Clients)
		}
	})
}

func TestReaderThatStallsIsCut(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("large")
		stalled := w.request("GET", "/api/sessions/"+id+"/events") // its body is not read
		if stalled.StatusCode != http.StatusOK {
			t.Fatal(stalled.Status)
		}
		s := w.stream("/api/sessions/" + id + "/events")
		if got := s.received(); len(got) < 60 {
			t.Errorf("the other stream received %d events", len(got))
		}
		if n := len(w.snapshot(id).Clients); n != 2 {
			t.Fatalf("%d clients", n)
		}
		time.Sleep(61 * time.Second)
		if n := len(w.snapshot(id).Clients); n != 1 {
			t.Errorf("%d clients a minute later", n)
		}
		if s.over() {
			t.Error("the other stream was closed")
		}
	})
}

func TestStreamOfADeletedSessionEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		s := w.stream("/api/sessions/" + id + "/events")
		s.received()
		w.do(protocol.DoClose, id, protocol.CloseData{Delete: true})
		if got := s.received(); len(got) != 1 || got[0].Type != protocol.SessionClosed {
			t.Errorf("at the end: %v", got)
		}
		time.Sleep(time.Minute)
		if !s.over() {
			t.Error("the stream did not end")
		}
	})
}

func TestHeadDoesNotFollow(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		resp := w.request("HEAD", "/api/sessions/"+id+"/events")
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s %v", resp.Status, resp.Header)
		}
		if n := len(w.snapshot(id).Clients); n != 0 {
			t.Errorf("%d clients", n)
		}
	})
}
