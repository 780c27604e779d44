package wsclient

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/protocol/agentloop"
	"agentctl/protocol/multiagent"
	"agentctl/protocol/myagent"
)

// A one-shot client does not open a WebSocket to a server that is not agentctl if the sessions of
// the dialect end with their connection: an AgentLoop server would take its session from another
// client.
func TestAOneShotClientLeavesEphemeralSessionsAlone(t *testing.T) {
	for _, c := range []struct {
		dialect, speaks  string
		oneShot          bool
		status           int // of an ordinary request
		refused, sockets bool
	}{
		{agentloop.Name, "", true, http.StatusUpgradeRequired, true, false},
		{myagent.Name, "", true, http.StatusOK, true, false},
		{agentloop.Name, "", true, 0, true, false}, // closes the connection without an answer
		{agentloop.Name, "", false, http.StatusUpgradeRequired, false, true},
		{agentloop.Name, agentloop.Name, true, http.StatusUpgradeRequired, false, true},
		{myagent.Name, myagent.Name, true, http.StatusUpgradeRequired, false, true},
		{multiagent.Name, "", true, http.StatusNotFound, false, true},
	} {
		o := Options{Dialect: c.dialect, OneShot: c.oneShot}
		withFakeServer(t, o, func(t *testing.T, f *fakeServer, client *Client) {
			var sockets atomic.Bool
			f.setHandler(func(w http.ResponseWriter, r *http.Request) {
				if c.speaks != "" {
					w.Header().Set(protocol.ProtocolHeader, c.speaks)
				}
				switch {
				case r.Header.Get("Upgrade") != "":
				case c.status == 0:
					panic(http.ErrAbortHandler)
				default:
					w.WriteHeader(c.status)
					return
				}
				sockets.Store(true)
				ws, err := websocket.Accept(w, r, nil)
				if err != nil {
					return
				}
				defer ws.CloseNow()
				_ = ws.Write(r.Context(), websocket.MessageText, []byte(helloAnswers[c.dialect]))
				_, _, _ = ws.Read(context.Background())
			})
			err := client.Connect(t.Context())
			synctest.Wait()
			time.Sleep(time.Hour) // it does not try again
			refused := errors.Is(err, ErrEphemeral)
			if refused != c.refused || sockets.Load() != c.sockets || !refused && err != nil {
				t.Errorf("%+v: %v, WebSocket opened: %v", c, err, sockets.Load())
			}
			if client.Ephemeral() != (err == nil && c.speaks == "" && c.dialect != multiagent.Name) {
				t.Errorf("%+v: ephemeral %v", c, client.Ephemeral())
			}
		})
	}
}
