package server

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/coder/websocket"

	"agentctl/protocol/sandcastle"
)

// SC-28, SC-29: a listener of Sandcastle serves its history endpoint beside its socket, which is at any path.
func TestADialectsHistoryIsBesideItsSocket(t *testing.T) {
	w := newWorld(t)
	id := w.turn("hello")
	pipe := NewPipe()
	pipe.Dialect = sandcastle.Name
	w.serve(pipe.Listener)
	browser := through(pipe.Dial)
	fetch := func(path string) (status int, messages []struct{ ID, Role string }) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server"+path, nil)
		must(t, err)
		resp, err := browser.Do(r)
		must(t, err)
		defer resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			must(t, json.NewDecoder(resp.Body).Decode(&messages))
		}
		return resp.StatusCode, messages
	}
	_, all := fetch("/api/sessions/" + id + "/messages")
	if len(all) != 2 || all[0].Role != "user" || all[1].Role != "assistant" {
		t.Fatalf("messages: %+v", all)
	}
	if _, newer := fetch("/api/sessions/" + id + "/messages?after=" + all[0].ID); len(newer) != 1 || newer[0].ID != all[1].ID {
		t.Errorf("after the first: %+v", newer)
	}
	if status, _ := fetch("/api/sessions/nope/messages"); status != http.StatusNotFound {
		t.Errorf("unknown session: %d", status)
	}
	for _, path := range []string{"/", "/ws", "/rpc/", "/api/sessions/" + id + "/messages"} {
		ws, _, err := websocket.Dial(t.Context(), "ws://server"+path, &websocket.DialOptions{HTTPClient: browser})
		if err != nil {
			t.Errorf("socket at %s: %v", path, err)
			continue
		}
		_ = ws.CloseNow()
	}
}
