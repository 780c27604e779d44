package server

import (
	"net"
	"net/http"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent/process"
)

// processes returns a Listener.Ancestry that returns the same ancestors for every connection.
func processes(err error, list ...process.Ancestor) func(net.Conn) ([]process.Ancestor, error) {
	return func(net.Conn) ([]process.Ancestor, error) { return list, err }
}

func TestTheNearestProcessTellsTheAgent(t *testing.T) {
	w := newTestServer(t)
	user := w.dial()
	a, b := user.create("x"), user.create("x")
	if m := user.ask(protocol.DoRename, a, protocol.RenameData{Name: new("fix")}); m.Error != nil {
		t.Fatal(m.Error)
	}
	_ = user.ws.CloseNow() // a server that ends waits for clients that do not read
	for _, c := range []struct {
		name string
		list []process.Ancestor
		want string
	}{
		{"none", nil, ""},
		{"a user's shell", []process.Ancestor{{PID: 1 << 30}, {PID: 1<<30 + 1}}, ""},
		{"in an agent", []process.Ancestor{{PID: 1 << 30}, {Session: a}}, a},
		{"in an agent of an agent", []process.Ancestor{{Session: b}, {Session: a}}, b},
		{"of another server", []process.Ancestor{{Session: "s_elsewhere"}}, ""},
		{"of another server in an agent", []process.Ancestor{{Session: "s_elsewhere"}, {Session: a}}, a},
	} {
		pipe := NewPipe()
		pipe.Ancestry = processes(nil, c.list...)
		w.serve(pipe.Listener)
		conn := dialWebSocket(t, pipe.Dial)
		r := conn.hello(protocol.HelloData{Name: "root"})
		_ = conn.ws.CloseNow()
		want := protocol.Actor{Name: "root"}
		switch c.want {
		case a:
			want = protocol.AgentActor(a, "fix")
		case b:
			want = protocol.AgentActor(b, "")
		}
		if r.By != want || (r.Role == protocol.RoleAgent) != (c.want != "") {
			t.Errorf("%s: %+v with the role %q, want %+v", c.name, r.By, r.Role, want)
		}
	}
}

func TestAConnectionOfAProcessThatHasEndedIsRefused(t *testing.T) {
	w := newTestServer(t)
	for _, path := range []string{"/healthz", "/api/sessions", protocol.Path, "/dialect/multiagent"} {
		addr := w.tcp("secret", func(l *Listener) { l.Ancestry = processes(process.ErrPeerGone) })
		if status, code, _ := get(t, addr, path+"?token=secret", "Host: localhost"); status != http.StatusForbidden ||
			code != protocol.CodeForbidden {
			t.Errorf("GET %s: %d %s", path, status, code)
		}
	}
}
