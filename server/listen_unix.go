//go:build unix

package server

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// listenPrivate listens on a Unix socket that is at no time accessible to other users: it binds the
// socket in a private directory, sets mode 0600 and renames it into place, over an existing socket.
func listenPrivate(path string) (net.Listener, error) {
	if most := len(syscall.RawSockaddrUnix{}.Path) - 1; len(path) > most {
		return nil, fmt.Errorf("%s: a socket path has at most %d bytes", path, most)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("%s: exists and is not a socket", path)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s") // 0700
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // empty
	temporary := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: temporary, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(temporary, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	if err := os.Rename(temporary, path); err != nil {
		_ = l.Close()
		return nil, err
	}
	return &unixListener{Listener: l, path: path}, nil
}

// unixListener removes its socket file on the first Close only: later the file may belong to
// another server.
type unixListener struct {
	net.Listener
	path    string
	removed sync.Once
}

func (l *unixListener) Close() error {
	l.removed.Do(func() { _ = os.Remove(l.path) })
	return l.Listener.Close()
}

func (l *unixListener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }
