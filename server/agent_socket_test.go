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
