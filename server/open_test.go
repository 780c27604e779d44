package server

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/protocol/multiagent"
)

// A client without a credential has the listener's role and is named by dialect and address,
// regardless of the name that it sends.
func TestAnOpenListenersRoleIsItsClients(t *testing.T) {
	w := newTestServer(t)
	for role, may := range map[protocol.Role]bool{protocol.RoleObserver: false, protocol.RoleOperator: true} {
		l, err := ListenOpen("127.0.0.1:0")
		must(t, err)
		l.Dialect, l.Role = multiagent.Name, role
		addr := w.serve(l)
		s := dialForeignAt(
			t,
			httpClient(
				func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", addr) },
			),
			"ws://"+addr+"/any/path",
		)
		s.send(`{"type":"start_conversation","payload":{"domainId":"d"}}`)
		if !may {
			if f, _ := s.waitFor("error"); f.Payload.Code != "forbidden" {
				t.Errorf("%s: %+v", role, f)
			}
			_ = s.ws.CloseNow() // so that the shutdown does not wait for its closing handshake
			continue
		}
		f, _ := s.waitFor("conversation_started")
		s.send(
			`{"type":"send_message","conversationId":"` + f.Payload.ConversationID + `","payload":{"content":"few"}}`,
		)
		s.waitFor("message_complete")
		c := w.dial()
		list := ok[protocol.ListResult](c, protocol.DoList, "", nil).Sessions
		h := ok[protocol.HistoryResult](c, protocol.DoHistory, list[0].Session, protocol.HistoryData{})
		_ = c.ws.CloseNow()
		var e protocol.Event
		must(t, json.Unmarshal(h.Events[0], &e))
		if e.Type != protocol.MessageUser || e.By == nil || !strings.HasPrefix(e.By.Name, multiagent.Name+"@") {
			t.Errorf("%s by %+v", e.Type, e.By)
		}
		_ = s.ws.CloseNow()
	}
}

// An open listener accepts programs on this machine, and no other machine or browser page.
func TestAnOpenListenerIsForThisMachinesPrograms(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0"} {
		if _, err := ListenOpen(addr); !errors.Is(err, ErrExposed) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	w := newTestServer(t)
	for _, name := range dialect.Names() {
		l, err := ListenOpen("127.0.0.1:0")
		must(t, err)
		l.Dialect, l.Role = name, protocol.RoleApprover
		addr := w.serve(l)
		upgrade := []string{
			"Connection: Upgrade",
			"Upgrade: websocket",
			"Sec-WebSocket-Version: 13",
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
		}
		for _, tt := range []struct {
			header []string
			want   int
		}{
			{[]string{"Host: " + addr}, 101},
			{[]string{"Host: " + addr, "Authorization: Bearer anything"}, 101},
			{[]string{"Host: " + addr, "Origin: https://evil.example"}, 403},
			{[]string{"Host: " + addr, "Origin: null"}, 403},
			{[]string{"Host: evil.example"}, 403},
		} {
			if status, _, _ := get(
				t,
				addr,
				"/any/path?token=anything",
				append(tt.header, upgrade...)...); status != tt.want {
				t.Errorf("%s, %s: %d, want %d", name, tt.header, status, tt.want)
			}
		}
	}
}
