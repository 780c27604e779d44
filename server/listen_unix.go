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

// listenPrivate binds the socket inside a directory of its own, closes it to others and moves it into place, over a socket
// that is there: at no moment can anybody else open it.
func listenPrivate(path string) (net.Listener, error) {
	if most := len(syscall.RawSockaddrUnix{}.Path) - 1; len(path) > most {
		return nil, fmt.Errorf("%s: longer than %d bytes, nobody could connect", path, most)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("%s: is there and no socket", path)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s") // 0700
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // empty by then
	made := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(made, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	if err := os.Rename(made, path); err != nil {
		_ = l.Close()
		return nil, err
	}
	return &unixListener{Listener: l, path: path}, nil
}

// unixListener removes its socket when it is closed, once: another server may have put its own there since.
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
