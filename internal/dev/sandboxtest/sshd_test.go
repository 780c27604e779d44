//go:build sandbox

package sandboxtest

import (
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"time"
)

// serveSSH runs sshd as root, with an empty repository of root at BASE/remote.git. The key BASE/key of a
// user opens every account, and so do the keys that the home directory at the link BASE/login lets in. It
// returns the port.
func serveSSH(base string, uid int) (port string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	dir := filepath.Join(base, "sshd")
	setup := exec.Command("bash", "-c", `set -e
		mkdir -p /run/sshd "$1"; chmod 755 "$1"
		ssh-keygen -q -t ed25519 -N '' -f "$1/host"
		ssh-keygen -q -t ed25519 -N '' -f "$2/key"
		cp "$2/key.pub" "$1/authorized"; chmod 644 "$1/authorized"; chown "$3" "$2/key"
		git init -q --bare "$2/remote.git"`, "bash", dir, base, fmt.Sprint(uid))
	if out, err := setup.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("%w: %s", err, out)
	}
	var log bytes.Buffer
	sshd := exec.Command("/usr/sbin/sshd", "-D", "-e", "-f", "/dev/null", "-p", port,
		"-o", "ListenAddress=127.0.0.1", "-h", filepath.Join(dir, "host"), "-o", "StrictModes=no", "-o", "UsePAM=no",
		"-o", "AuthorizedKeysFile="+filepath.Join(dir, "authorized")+" "+filepath.Join(
			base, "login", ".ssh", "authorized_keys",
		),
		"-o", "Subsystem=sftp internal-sftp", "-o", "PermitRootLogin=yes", "-o", "PidFile=none")
	sshd.Stderr = &log
	if err := sshd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = sshd.Process.Kill()
		_ = sshd.Wait()
	}
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for deadline := time.Now().Add(30 * time.Second); ; {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = c.Close()
			return port, stop, nil
		}
		if time.Now().After(deadline) {
			stop()
			return "", nil, fmt.Errorf("%w: %s", err, &log)
		}
		<-poll.C
	}
}
