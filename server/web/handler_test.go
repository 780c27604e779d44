package web_test

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/history"
	"agentctl/server/session"
)

func TestSessionsAreListed(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		first, second := w.runTurn("few"), w.runTurn("hang")
		time.Sleep(time.Second)
		w.do(protocol.DoClose, first, protocol.CloseData{})
		list := get[protocol.ListResult](w, "/api/sessions").Sessions
		if len(list) != 2 || list[0].Session != first || list[0].Status != protocol.Closed ||
			list[1].Session != second ||
			list[1].Status != protocol.Running {
			t.Errorf("got %+v", list)
		}
	})
}

type messages struct {
	Messages []history.Message `json:"messages"`
}

func TestMessagesOfFinishedTurnsCanBeReadOn(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("one")
		for _, text := range []string{"two", "three", "hang"} {
			w.do(protocol.DoSend, id, protocol.SendData{Text: text})
		}
		path := "/api/sessions/" + id + "/messages"
		all := get[messages](w, path).Messages
		var texts []string
		for _, m := range all {
			texts = append(texts, m.Role+": "+m.Text)
		}
		want := "user: one|assistant: You said: one|user: two|assistant: You said: two|user: three|assistant: You said: three"
		if got := strings.Join(texts, "|"); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		for i, m := range all {
			if rest := get[messages](w, path+"?after="+m.MessageID).Messages; len(rest) != len(all)-i-1 {
				t.Errorf("after message %d: %d messages", i, len(rest))
			}
		}
		refused(t, w.request("GET", "/api/sessions/s_none/messages"), 404, protocol.CodeNoSession)
	})
}

func TestWhatIsNotServedIsNotFound(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		for _, path := range []string{"/api/", "/api/nothing", "/api/sessions/" + id + "/nothing", "/api/blobs"} {
			refused(t, w.request("GET", path), 404, protocol.CodeNotFound)
		}
		resp := w.request("DELETE", "/api/sessions/"+id+"/messages")
		refused(t, resp, 405, protocol.CodeUnsupported)
		if allow := resp.Header.Get("Allow"); allow != "GET, POST" {
			t.Errorf("Allow: %s", allow)
		}
	})
}

// pageStore returns an HTML page for every blob.
type pageStore struct{ session.Store }

func (s pageStore) Blob(ctx context.Context, id, blob string) (eventlog.Blob, error) {
	b, err := s.Store.Blob(ctx, id, blob)
	b.MediaType = "text/html; charset=utf-8\r\nSet-Cookie: a=b"
	return b, err
}

func TestBlobIsServedSoThatNoBrowserRunsIt(t *testing.T) {
	bubbleOn(t, func(s session.Store) session.Store { return pageStore{s} }, func(t *testing.T, w *testServer) {
		w.runTurn("few")
		id := w.runTurn("blob")
		blob := ""
		for _, e := range w.stream("/api/sessions/" + id + "/events").received() {
			var d protocol.RawData
			if e.Type == protocol.Raw && e.Decode(&d) == nil {
				blob = d.Blob
			}
		}
		if blob == "" {
			t.Fatal("there is no blob")
		}
		for _, path := range []string{
			"/api/blobs/" + blob, "/api/blobs/" + blob + "?session=" + id,
			"/api/sessions/" + id + "/blobs/" + blob,
		} {
			resp := w.request("GET", path)
			b, err := io.ReadAll(resp.Body)
			must(t, err)
			if want := strconv.Quote(strings.Repeat("x", 300<<10)); string(b) != want {
				t.Errorf("GET %s: %s, %d bytes, want %d", path, resp.Status, len(b), len(want))
			}
			for name, want := range map[string]string{
				"Content-Disposition": "attachment", "Content-Security-Policy": "sandbox",
				"X-Content-Type-Options": "nosniff",
				"Content-Length":         strconv.Itoa(len(b)), "Set-Cookie": "",
			} {
				if got := resp.Header.Get(name); got != want {
					t.Errorf("GET %s: %s: %q, want %q", path, name, got, want)
				}
			}
		}
		refused(t, w.request("GET", "/api/blobs/b_none"), 404, protocol.CodeNotFound)
		refused(t, w.request("GET", "/api/blobs/"+blob+"?session=s_none"), 404, protocol.CodeNoSession)
		refused(t, w.request("GET", "/api/sessions/"+id+"/blobs/b_none"), 404, protocol.CodeNotFound)
	})
}

// failingStore fails to read turns.
type failingStore struct{ session.Store }

func (failingStore) Turns(context.Context, string, uint64, int) ([]eventlog.TurnRow, error) {
	return nil, eventlog.ErrCorrupt
}

func TestStoreThatFailsTellsNoDetail(t *testing.T) {
	bubbleOn(t, func(s session.Store) session.Store { return failingStore{s} }, func(t *testing.T, w *testServer) {
		refused(t, w.request("GET", "/api/sessions/"+w.runTurn("few")+"/messages"), 500, protocol.CodeCorrupt)
	})
}
