//go:build unix

package server

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"agentctl/protocol"
)

// maxSocketPath is the longest path in the address of a socket, in bytes.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// listenPrivate listens on a Unix socket that is at no time accessible to other users: it binds the
// socket in a private directory, sets mode 0600 and renames it into place, over an existing socket.
func listenPrivate(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("%s: exists and is not a socket", path)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s") // 0700
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // empty
	l, err := bind(dir, "s")
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	temporary := filepath.Join(dir, "s")
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

// bind makes a socket in a directory. On Linux the path of the directory may be of any length; a longer
// one than an address holds has the code unsupported elsewhere.
func bind(dir, name string) (*net.UnixListener, error) {
	path := filepath.Join(dir, name)
	if runtime.GOOS == "linux" {
		f, err := os.Open(dir)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		path = fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), name)
	}
	if len(path) > maxSocketPath {
		return nil, protocol.Errorf(protocol.CodeUnsupported,
			"the path of the socket is too long (%d bytes): choose a shorter data directory", len(path))
	}
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
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
