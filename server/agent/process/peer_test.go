//go:build linux || darwin

package process

import (
	"bufio"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func listen(t *testing.T) *net.UnixListener {
	t.Helper()
	dir, err := os.MkdirTemp("", "peer") // a socket's path must be short, t.TempDir's may be long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// accept runs a shell script, which runs this program as a client with "$0", and returns its
// connection and its process.
func accept(t *testing.T, script, session string) (*net.UnixConn, *Process) {
	t.Helper()
	l := listen(t)
	p, err := Start(Command{
		Args: []string{"/bin/sh", "-c", script, os.Args[0]},
		Env:  append(os.Environ(), connectVariable+"="+l.Addr().String()), Session: session,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.End(0)
		p.Release()
	})
	conn, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, p
}

func TestPeerNamesTheProcessThatConnectedAndItsAncestors(t *testing.T) {
	conn, p := accept(t, `sh -c '"$0"; exit 1' "$0"; exit 2`, "")
	list, err := Peer(conn)
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v: want three processes", list, err)
	}
	last := list[2]
	if last.PID != p.Group().PID || last.Start != p.Group().Start || last.Start == "" {
		t.Errorf("the first program is %+v, want %+v", last, p.Group())
	}
	for _, a := range list {
		if a.Group != p.Group().PID || a.Session != "" {
			t.Errorf("%+v: want the group %d and no session", a, p.Group().PID)
		}
	}
}

func TestPeerOfThisProcessHasNoAncestors(t *testing.T) {
	l := listen(t)
	client, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if list, err := Peer(conn); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestPeerReadsTheSessionOfAProcessThatLeftItsGroup(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	// The client starts after its parent has exited, so that it has another one.
	exited := filepath.Join(t.TempDir(), "exited")
	conn, p := accept(t, `(setsid sh -c 'until [ -e "`+exited+`" ]; do sleep 0.01; done; exec "$0"' "$0" &); : >"`+exited+
		`"; exec sleep 100`, "s_1")
	list, err := Peer(conn)
	if err != nil || len(list) == 0 || list[0].Session != "s_1" || list[0].Group == p.Group().PID {
		t.Errorf("%+v, %v: want the session s_1 in another group", list, err)
	}
	for _, a := range list {
		if a.PID == p.Group().PID {
			t.Errorf("%+v is an ancestor of the process that left", a)
		}
	}
}

func TestPeerRefusesAConnectionWhoseProcessHasEnded(t *testing.T) {
	conn, p := accept(t, `"$0" leave; echo left; exec sleep 100`, "")
	readLine(t, bufio.NewReader(p.Stdout))
	if list, err := Peer(conn); !errors.Is(err, ErrPeerGone) {
		t.Errorf("%+v, %v", list, err)
	}
}
