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

// protocols returns the names of all protocols a client may use, the native one (empty) first.
func protocols() []string { return append([]string{""}, dialect.Names()...) }

// A client of any protocol that reaches a server of another protocol fails immediately, with the
// code unsupported, and does not retry.
func TestAServerOfAnotherKindIsRefusedWithAReason(t *testing.T) {
	socket := func(header string, reply func(received []byte) []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if header != "" {
				w.Header().Set(protocol.ProtocolHeader, header)
			}
			ws, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			defer ws.CloseNow()
			for {
				_, received, err := ws.Read(context.Background())
				if err != nil || ws.Write(context.Background(), websocket.MessageText, reply(received)) != nil {
					return
				}
			}
		}
	}
	constant := func(s string) func([]byte) []byte { return func([]byte) []byte { return []byte(s) } }
	for server, c := range map[string]struct {
		serve    http.HandlerFunc
		protocol string // protocol of the server
		message  string
		peer     string // expected PeerProtocol
	}{
		"an echo": {socket("", func(received []byte) []byte { return received }), "", "", ""},
		"a native server with header": {
			socket(protocol.Subprotocol, constant(`{"id":"hello","result":{}}`)), "native",
			"the server speaks", protocol.Subprotocol,
		},
		"a dialect server with header": {
			socket("sandcastle", constant(`{"_tag":"Pong"}`)), "sandcastle",
			"the server speaks", "sandcastle",
		},
		"a native server": {socket("",
			constant(`{"error":{"code":"invalid_message","message":"no command"}}`)), "native", "", ""},
		"EffectiveAgent": {socket("",
			constant(`{"type":"error","code":"UNKNOWN_MESSAGE_TYPE","message":"no"}`)), "effectiveagent", "", ""},
		"Multi-Agent-Intelligence": {
			socket("", constant(`{"type":"error","error":"Unknown event type: x"}`)),
			"multiagent", "", "",
		},
		"AgentLoop": {
			socket("", constant(`{"id":"1","type":"error","payload":{"message":"no"}}`)),
			"agentloop", "", "",
		},
		"Sandcastle": {socket("", constant(`{"_tag":"Defect","defect":"no"}`)), "sandcastle", "", ""},
		"MyAgent": {socket("",
			constant(`{"event":"system.error","timestamp":"2026-03-01T09:00:00"}`)), "myagent", "", ""},
	} {
		for _, name := range protocols() {
			if c.protocol == name || c.protocol == "native" && name == "" {
				continue
			}
			if c.protocol == "agentloop" &&
				name == "multiagent" { // multiagent messages may have an id too: the client reports the server's error
				continue
			}
			t.Run(server+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFakeServer(t)
					defer f.close()
					f.setHandler(c.serve)
					client := f.client(Options{Dialect: name, NoRetryFirst: true})
					defer client.Close()
					err := client.Connect(t.Context())
					if err == nil {
						cmd := protocol.Command{
							Command: protocol.DoSend,
							Session: "s",
							Data:    protocol.MustEncode(protocol.SendData{Text: "hi"}),
						}
						if name == "agentloop" { // the agentloop URL names the session
							cmd.Session = name
						}
						err = client.Do(t.Context(), cmd, nil)
					}
					var why *ConnectError
					if !errors.As(err, &why) || why.Code != protocol.CodeUnsupported || !why.Refused() {
						t.Fatalf("got %v", err)
					}
					if why.PeerProtocol != c.peer || !strings.Contains(why.Error(), c.message) {
						t.Errorf("speaks %q: %v", why.PeerProtocol, why)
					}
					if n := len(f.dialTimes()); n != 1 {
						t.Errorf("%d dials, want 1", n)
					}
				})
			})
		}
	}
}

// An unknown first message does not end the connection: servers may have extensions.
func TestAnUnknownFirstMessageIsAccepted(t *testing.T) {
	for _, name := range []string{"effectiveagent", "multiagent", "agentloop"} {
		for _, message := range []string{
			`{"type":"connected","data":{"version":2}}`,
			`{"type":"welcome","payload":{},"metadata":{}}`,
			`{"type":"info","id":"1","payload":{},"code":1,"message":"hello"}`,
		} {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeServer(t)
				defer f.close()
				f.setHandler(func(w http.ResponseWriter, r *http.Request) {
					if ws, err := websocket.Accept(w, r, nil); err == nil {
						defer ws.CloseNow()
						err = ws.Write(context.Background(), websocket.MessageText, []byte(message))
						for err == nil {
							_, _, err = ws.Read(context.Background())
						}
					}
				})
				client := f.client(Options{Dialect: name, NoRetryFirst: true})
				defer client.Close()
				client.Retry()
				synctest.Wait()
				if s := client.State(); s.Err != nil || s.Phase == PhaseOffline {
					t.Errorf("%s after %s: %+v", name, message, s)
				}
			})
		}
	}
}

// A plain HTTP response is reported with its status.
func TestAPlainWebServerIsReportedWithItsStatus(t *testing.T) {
	for _, name := range protocols() {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeServer(t)
			defer f.close()
			f.setHandler(
				func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>welcome</html>")) },
			)
			client := f.client(Options{Dialect: name, NoRetryFirst: true})
			defer client.Close()
			var why *ConnectError
			if err := client.Connect(t.Context()); !errors.As(err, &why) || why.Status != http.StatusOK ||
				!strings.Contains(err.Error(), "HTTP 200 OK") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
