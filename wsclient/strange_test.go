package wsclient

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/protocol"
)

// languages are what a client may speak: the native protocol first.
func languages() []string { return append([]string{""}, dialect.Names()...) }

// TestAServerOfAnotherKindIsRefusedWithAReason holds for whatever is spoken to whatever answers: nothing is done, nothing is read, and
// who asked is told that this is no such server, and not to come back.
func TestAServerOfAnotherKindIsRefusedWithAReason(t *testing.T) {
	socket := func(speaks string, says func(heard []byte) []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if speaks != "" {
				w.Header().Set(protocol.ProtocolHeader, speaks)
			}
			ws, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			defer ws.CloseNow()
			for {
				_, heard, err := ws.Read(context.Background())
				if err != nil || ws.Write(context.Background(), websocket.MessageText, says(heard)) != nil {
					return
				}
			}
		}
	}
	constant := func(s string) func([]byte) []byte { return func([]byte) []byte { return []byte(s) } }
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		of    string // the language that this is a server of
		says  string
		told  string // what it is said to speak
	}{
		"an echo":                      {socket("", func(heard []byte) []byte { return heard }), "", "", ""},
		"a native server that says so": {socket(protocol.Subprotocol, constant(`{"id":"hello","result":{}}`)), "native", "is spoken there", protocol.Subprotocol},
		"a dialect that says so":       {socket("sandcastle", constant(`{"_tag":"Pong"}`)), "sandcastle", "is spoken there", "sandcastle"},
		"a native server":              {socket("", constant(`{"error":{"code":"invalid_message","message":"no command"}}`)), "native", "", ""},
		"EffectiveAgent":               {socket("", constant(`{"type":"error","code":"UNKNOWN_MESSAGE_TYPE","message":"no"}`)), "effectiveagent", "", ""},
		"Multi-Agent-Intelligence":     {socket("", constant(`{"type":"error","error":"Unknown event type: x"}`)), "multiagent", "", ""},
		"AgentLoop":                    {socket("", constant(`{"id":"1","type":"error","payload":{"message":"no"}}`)), "agentloop", "", ""},
		"Sandcastle":                   {socket("", constant(`{"_tag":"Defect","defect":"no"}`)), "sandcastle", "", ""},
		"MyAgent":                      {socket("", constant(`{"event":"system.error","timestamp":"2026-03-01T09:00:00"}`)), "myagent", "", ""},
	} {
		for _, language := range languages() {
			if c.of == language || c.of == "native" && language == "" {
				continue
			}
			if c.of == "agentloop" && language == "multiagent" { // whose messages might have an id: the error itself is told
				continue
			}
			t.Run(name+" "+language, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFake(t)
					defer f.close()
					f.setRefuse(c.serve)
					client := f.client(Options{Dialect: language, NoRetryFirst: true})
					defer client.Close()
					err := client.Connect(t.Context())
					if err == nil {
						cmd := protocol.Command{Command: protocol.DoSend, Session: "s", Data: protocol.MustEncode(protocol.SendData{Text: "hi"})}
						if language == "agentloop" { // whose URL names the session
							cmd.Session = language
						}
						err = client.Do(t.Context(), cmd, nil)
					}
					var why *ConnectError
					if !errors.As(err, &why) || why.Code != protocol.CodeUnsupported || !why.Refused() {
						t.Fatalf("told %v", err)
					}
					if why.PeerProtocol != c.told || !strings.Contains(why.Error(), c.says) {
						t.Errorf("speaks %q: %v", why.PeerProtocol, why)
					}
					if n := len(f.dialed()); n != 1 {
						t.Errorf("it was dialled %d times", n)
					}
				})
			})
		}
	}
}

// A word that a server of the same system may have of its own is no reason to leave it.
func TestAnUnknownFirstWordIsNotStrange(t *testing.T) {
	for _, language := range []string{"effectiveagent", "multiagent", "agentloop"} {
		for _, word := range []string{
			`{"type":"connected","data":{"version":2}}`,
			`{"type":"welcome","payload":{},"metadata":{}}`,
			`{"type":"info","id":"1","payload":{},"code":1,"message":"hello"}`,
		} {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				defer f.close()
				f.setRefuse(func(w http.ResponseWriter, r *http.Request) {
					if ws, err := websocket.Accept(w, r, nil); err == nil {
						defer ws.CloseNow()
						err = ws.Write(context.Background(), websocket.MessageText, []byte(word))
						for err == nil {
							_, _, err = ws.Read(context.Background())
						}
					}
				})
				client := f.client(Options{Dialect: language, NoRetryFirst: true})
				defer client.Close()
				client.Retry()
				synctest.Wait()
				if s := client.State(); s.Err != nil || s.Phase == PhaseOffline {
					t.Errorf("%s hears %s: %+v", language, word, s)
				}
			})
		}
	}
}

// What is no WebSocket is told with its status.
func TestAPlainWebServerIsToldWithItsStatus(t *testing.T) {
	for _, language := range languages() {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(t)
			defer f.close()
			f.setRefuse(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>welcome</html>")) })
			client := f.client(Options{Dialect: language, NoRetryFirst: true})
			defer client.Close()
			var why *ConnectError
			if err := client.Connect(t.Context()); !errors.As(err, &why) || why.Status != http.StatusOK || !strings.Contains(err.Error(), "HTTP 200 OK") {
				t.Errorf("%s: %v", language, err)
			}
		})
	}
}
