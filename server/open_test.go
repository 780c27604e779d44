package server

import (
	"errors"
	"testing"

	"agentctl/dialect"
	"agentctl/protocol"
)

// An open listener lets in programs of this machine: no other machine, no page of a browser.
func TestAnOpenListenerIsForThisMachinesPrograms(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0"} {
		if _, err := ListenOpen(addr); !errors.Is(err, ErrExposed) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	w := newWorld(t)
	for _, name := range dialect.Names() {
		l, err := ListenOpen("127.0.0.1:0")
		must(t, err)
		l.Dialect, l.Role = name, protocol.RoleApprover
		addr := w.serve(l)
		upgrade := []string{"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}
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
			if status, _, _ := get(t, addr, "/any/path?token=anything", append(tt.header, upgrade...)...); status != tt.want {
				t.Errorf("%s, %s: %d, want %d", name, tt.header, status, tt.want)
			}
		}
	}
}
