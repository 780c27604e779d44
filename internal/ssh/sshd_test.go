//go:build sshd && linux

package ssh

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestOverOpenSSH dials through OpenSSH's client and server. The second connection shares the link
// of the first.
func TestOverOpenSSH(t *testing.T) {
	s := newServer(t)
	share := filepath.Join(s.dir, "s")
	if err := os.Mkdir(share, 0o700); err != nil {
		t.Fatal(err)
	}
	d := &Dialer{Target: Target{Host: "box"}, Program: s.client, Command: s.command, ShareDir: share}
	t.Cleanup(func() { s.run(s.client, "-o", "ControlPath="+filepath.Join(share, "%C"), "-O", "exit", "box") })
	for i := range 2 {
		c, err := d.Dial(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("x", 1<<20) + "\n"
		go func() { _, _ = io.WriteString(c, text) }()
		if got, err := bufio.NewReader(c).ReadString('\n'); err != nil || got != text {
			t.Errorf("connection %d: %d bytes, %v", i, len(got), err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if sockets, _ := os.ReadDir(share); len(sockets) != 1 {
			t.Errorf("connection %d: %d shared links", i, len(sockets))
		}
	}
	if log, err := os.ReadFile(s.log); err != nil || strings.Count(string(log), "Accepted publickey") != 1 {
		t.Errorf("logins: %s, %v", log, err)
	}
	d = &Dialer{Target: Target{Host: "box"}, Program: s.client, Command: "no-such-agentctl"}
	if c, err := d.Dial(t.Context(), false); err == nil || !strings.Contains(err.Error(), "not in the PATH") {
		t.Errorf("without agentctl: %v, %v", c, err)
	}
	d.Target.User = "no-such-user"
	if c, err := d.Dial(t.Context(), false); err == nil || !strings.Contains(err.Error(), "Permission denied") {
		t.Errorf("without an account: %v, %v", c, err)
	}
}

// A server is OpenSSH's server on a loopback port, with a client that knows it as "box".
type server struct {
	t       *testing.T
	dir     string
	client  string // program
	command string // replaces agentctl: greets, then echoes its input
	log     string
}

func newServer(t *testing.T) *server {
	t.Helper()
	dir, err := os.MkdirTemp("", "sshd") // short: sockets are in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &server{t: t, dir: dir, log: filepath.Join(dir, "log"), client: filepath.Join(dir, "ssh")}
	s.command = s.write("there", 0o700, "#!/bin/sh\necho noise\necho '"+Greeting+"'\nexec cat\n")
	for _, key := range []string{"host", "key"} {
		s.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key))
	}
	port := freePort(t)
	config := s.write("sshd_config", 0o600, fmt.Sprintf(
		"Port %d\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nStrictModes no\n"+
			"UsePAM no\nLogLevel INFO\n", port, filepath.Join(dir, "host"), filepath.Join(dir, "key.pub")))
	if os.Geteuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // where the server drops its rights
			t.Fatal(err)
		}
	}
	sshd := exec.CommandContext(t.Context(), "/usr/sbin/sshd", "-D", "-f", config, "-E", s.log)
	if err := sshd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sshd.Wait() }) // t.Context has ended
	clientConfig := s.write("ssh_config", 0o600, fmt.Sprintf(
		"Host box\n HostName 127.0.0.1\n Port %d\n IdentityFile %s\n IdentitiesOnly yes\n IdentityAgent none\n"+
			" StrictHostKeyChecking no\n UserKnownHostsFile %s\n ConnectionAttempts 20\n",
		port, filepath.Join(dir, "key"), filepath.Join(dir, "known")))
	s.write("ssh", 0o700, fmt.Sprintf("#!/bin/sh\nexec /usr/bin/ssh -F %s \"$@\"\n", clientConfig))
	s.waitListening(port)
	return s
}

func (s *server) write(name string, mode os.FileMode, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *server) run(program string, args ...string) {
	s.t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		s.t.Errorf("%s: %v: %s", program, err, out)
	}
}

func (s *server) waitListening(port int) {
	s.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}
