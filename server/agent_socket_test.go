package server

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
	"agentctl/server/sandbox"
)

func TestAClientOfTheSocketOfASandboxIsTheAgentOfItsSession(t *testing.T) {
	w := newTestServer(t)
	user := w.dial()
	id := user.create("x")
	_ = user.ws.CloseNow()
	root := filepath.Join(t.TempDir(), "s")
	if runtime.GOOS == "linux" { // there it may be longer than the address of a socket
		root = filepath.Join(root, strings.Repeat("long", 50))
	}
	if err := os.MkdirAll(filepath.Join(root, "left by a killed server"), 0o700); err != nil {
		t.Fatal(err)
	}
	sockets, err := newAgentSockets(root)
	if err != nil {
		t.Fatal(err)
	}
	dir, release, err := sockets.open(id) // before the server is ready
	if err != nil {
		t.Fatal(err)
	}
	sockets.start(w.server)
	t.Chdir(dir)
	dial := func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", sandbox.SocketName)
	}
	conn := dialWebSocket(t, dial)
	r := conn.hello(protocol.HelloData{Name: "root"})
	if r.By != protocol.AgentActor(id, "") || r.Role != protocol.RoleAgent {
		t.Errorf("the client is %+v with the role %q", r.By, r.Role)
	}
	if m := conn.ask(protocol.DoApprove, id, protocol.ApproveData{Request: "a_1", Option: "allow"}); m.Error == nil ||
		m.Error.Code != protocol.CodeForbidden {
		t.Errorf("a decision was answered %+v", m)
	}
	release()
	if _, err := dial(t.Context()); err == nil {
		t.Error("the socket is open after the end of the agent")
	}
	if left, err := os.ReadDir(root); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// sandboxAgents can be confined.
type sandboxAgents struct{ *testServer }

func (sandboxAgents) HasSandboxes() bool                  { return true }
func (sandboxAgents) CheckSandbox(protocol.Sandbox) error { return nil }
func (sandboxAgents) DefaultSandbox(string) protocol.Sandbox {
	return protocol.Sandbox{Mode: protocol.SandboxReadOnly}
}
func (sandboxAgents) SandboxRefuses(*agent.Spec, *policy.Effect) error { return nil }

func TestClientsThatMayCreateSessionsAreToldOfSandboxes(t *testing.T) {
	w := newTestServer(t)
	if s := w.dial().hello(protocol.HelloData{}).Sandbox; s != nil {
		t.Errorf("a server without sandboxes offers %s", s)
	}
	w.server.agents = sandboxAgents{w}
	if s := w.dial().hello(protocol.HelloData{}).Sandbox; s == nil || s.Mode != protocol.SandboxReadOnly {
		t.Errorf("offered %v", s)
	}
	for _, role := range []protocol.Role{protocol.RoleAgent, protocol.RoleObserver} {
		c := &conn{server: w.server, caller: caller{role: role}}
		r, err := c.hello(&protocol.HelloData{Version: protocol.Version})
		if err != nil || r.Sandbox != nil {
			t.Errorf("%s is offered %v, %v", role, r, err)
		}
	}
}

func TestASocketOfASandboxClosesBeforeTheServerIsReady(t *testing.T) {
	sockets, err := newAgentSockets(filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	dir, release, err := sockets.open("s_1")
	if err != nil {
		t.Fatal(err)
	}
	release()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory stays: %v", err)
	}
}
