package connection

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"

	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/internal/ssh"
	"agentctl/wsclient"
)

// connectSSH connects to the server of another machine through ssh. ssh may ask on a terminal for
// the first connection; the later ones fail where it would.
func (d *Dialer) connectSSH(ctx context.Context, url string, o wsclient.Options) (*Conn, error) {
	cli := d.CLI
	if o.Dialect != "" {
		return nil, exit.Usagef("--dialect %s needs another --server: an ssh:// URL has no dialects", o.Dialect)
	}
	server := cli.Selected.Server
	server.URL = url
	remote, err := SSHDialer(cli, server)
	if err != nil {
		return nil, err
	}
	conn, err := remote.Dial(ctx, asksForTrust(cli))
	var noServer *ssh.NoServerError
	switch {
	case errors.As(err, &noServer):
		return nil, withStartHint(cli.Flags.OnlyReads, exit.Unreachablef("%w", err))
	case err != nil:
		return nil, exit.Unreachablef("%w", err).WithHint("try: ssh %s agentctl version", remote.Target)
	}
	var first atomic.Pointer[net.Conn]
	first.Store(&conn)
	closeFirst := func() {
		if c := first.Swap(nil); c != nil {
			_ = (*c).Close()
		}
	}
	defer closeFirst()
	o.Dial = func(ctx context.Context) (net.Conn, error) {
		if c := first.Swap(nil); c != nil {
			return *c, nil
		}
		return remote.Dial(ctx, false)
	}
	return d.dial(ctx, url, false, o)
}

// SSHDialer returns the dialer of a server with an ssh:// URL.
func SSHDialer(cli *verb.Context, s config.NamedServer) (*ssh.Dialer, error) {
	target, err := ssh.Parse(s.URL)
	if err != nil {
		return nil, exit.Usagef("invalid --server: %w", err)
	}
	d := &ssh.Dialer{Target: target, Command: s.Command}
	if cli.Flags.NoStart {
		d.Args = []string{"--no-start"}
	}
	if s.Shares() {
		d.ShareDir = shareDir(cli)
	}
	return d, nil
}

// shareDir returns the directory of the sockets of ssh's shared links, or "" without one that
// is short enough and only this user's.
func shareDir(cli *verb.Context) string {
	dir, err := cli.DataDir()
	if err != nil || dir.Create() != nil {
		return ""
	}
	path := dir.Path("ssh")
	if runtime := cli.Env("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) {
		path = filepath.Join(runtime, "agentctl-ssh")
	}
	if len(path) > ssh.MaxShareDir || os.MkdirAll(path, 0o700) != nil || os.Chmod(path, 0o700) != nil {
		return ""
	}
	return path
}
