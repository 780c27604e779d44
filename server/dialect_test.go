package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/protocol/acp"
	"agentctl/protocol/sandcastle"
)

// SC-28, SC-29: a Sandcastle listener serves its history endpoint, and WebSockets at any path.
func TestADialectsHistoryIsBesideItsSocket(t *testing.T) {
	w := newTestServer(t)
	id := w.runTurn("hello")
	pipe := NewPipe()
	pipe.Dialect = sandcastle.Name
	w.serve(pipe.Listener)
	browser := httpClient(pipe.Dial)
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
	if _, newer := fetch("/api/sessions/" + id + "/messages?after=" + all[0].ID); len(newer) != 1 ||
		newer[0].ID != all[1].ID {
		t.Errorf("after the first: %+v", newer)
	}
	if status, _ := fetch("/api/sessions/nope/messages"); status != http.StatusNotFound {
		t.Errorf("unknown session: %d", status)
	}
	for _, path := range []string{"/", "/ws", "/rpc/", "/api/sessions/" + id + "/messages"} {
		ws, _, err := websocket.Dial(t.Context(), "ws://server"+path, &websocket.DialOptions{HTTPClient: browser})
		if err != nil {
			t.Errorf("WebSocket at %s: %v", path, err)
			continue
		}
		_ = ws.CloseNow()
	}
}

// Every response names the protocol of the endpoint, for a WebSocket or not.
func TestEveryPathSaysWhatItSpeaks(t *testing.T) {
	w := newTestServer(t)
	pipe := NewPipe()
	pipe.Dialect = sandcastle.Name
	w.serve(pipe.Listener)
	for _, c := range []struct {
		through *http.Client
		path    string
		speaks  string
	}{
		{httpClient(w.pipe.Dial), protocol.Path, protocol.Subprotocol},
		{httpClient(w.pipe.Dial), "/", protocol.Subprotocol},
		{httpClient(w.pipe.Dial), dialectPath + "myagent", "myagent"},
		{httpClient(w.pipe.Dial), dialectPath + "agentloop/fix", "agentloop"},
		{httpClient(w.pipe.Dial), acpPath, acp.Name},
		{httpClient(pipe.Dial), protocol.Path, sandcastle.Name},
		{httpClient(pipe.Dial), acpPath, sandcastle.Name},
	} {
		ws, resp, err := websocket.Dial(
			t.Context(),
			"ws://server"+c.path,
			&websocket.DialOptions{HTTPClient: c.through},
		)
		if err == nil {
			_ = ws.CloseNow()
		}
		if resp == nil || resp.Header.Get(protocol.ProtocolHeader) != c.speaks {
			t.Errorf("%s: %v %v", c.path, resp, err)
		}
	}
}

// A message over the limit is answered with the dialect's error, then with a close, only to its
// sender.
func TestAForeignMessageOverTheLimitIsToldInItsDialectsWords(t *testing.T) {
	w := newTestServer(t)
	other := w.dial()
	id := other.create("")
	for name, want := range map[string]string{
		"agentloop":      `"type":"error","payload":{"message":"Invalid message format","details":{"error":"a message holds at most 1048576 bytes","code":"too_large"}}`,
		"effectiveagent": `{"type":"error","code":"VALIDATION_ERROR","message":"Invalid message format: a message holds at most 1048576 bytes","details":"too_large"}`,
		"multiagent":     `"payload":{"code":"bad_request","message":"a message holds at most 1048576 bytes"}`,
		"myagent":        `"event":"system.error"`,
		"sandcastle":     `{"_tag":"Defect","defect":"a message holds at most 1048576 bytes"}`,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
			defer cancel()
			ws, _, err := websocket.Dial(
				ctx,
				"ws://server"+dialectPath+name,
				&websocket.DialOptions{HTTPClient: httpClient(w.pipe.Dial)},
			)
			must(t, err)
			defer func() { _ = ws.CloseNow() }()
			wrote := make(chan struct{})
			go func() {
				defer close(wrote)
				_ = ws.Write(
					ctx,
					websocket.MessageText,
					bytes.Repeat([]byte(" "), protocol.MaxMessage+1),
				) // fails when the connection closes
			}()
			var last []byte
			for {
				_, b, err := ws.Read(ctx)
				if err != nil {
					if code := websocket.CloseStatus(err); code != protocol.CloseTooLarge {
						t.Errorf("close: %v", err)
					}
					break
				}
				last = b
			}
			<-wrote
			if !strings.Contains(string(last), want) || !strings.Contains(string(last), "a message holds at most") {
				t.Errorf("last frame %s\nwant %s", last, want)
			}
			other.ask(protocol.DoSnapshot, id, nil)
		})
	}
}

// A client that reads another protocol's name in a refusal stops instead of trying again.
func TestRefusalsNameTheProtocolOfTheEndpoint(t *testing.T) {
	w := newTestServer(t)
	h := w.server.handler(w.pipe.Listener)
	w.stop()
	for _, c := range [][2]string{
		{protocol.Path, protocol.Subprotocol},
		{"/dialect/agentloop", "agentloop"},
		{"/dialect/sandcastle/session", "sandcastle"},
	} {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, c[0], http.NoBody))
		name := answer.Header().Get(protocol.ProtocolHeader)
		if answer.Code != http.StatusServiceUnavailable || name != c[1] {
			t.Errorf("%s: HTTP %d of %q, want 503 of %q", c[0], answer.Code, name, c[1])
		}
	}
}
