//go:build unix

package server

import (
	"net"
	"os"
	"path/filepath"
)

// listenPrivate binds the socket inside a directory of its own, closes it to others and moves it into place: at no moment
// can anybody else open it.
func listenPrivate(path string) (net.Listener, error) {
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
	return &unixListener{l, path}, nil
}

// unixListener removes its socket when it is closed.
type unixListener struct {
	net.Listener
	path string
}

func (l *unixListener) Close() error {
	_ = os.Remove(l.path)
	return l.Listener.Close()
}

func (l *unixListener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }
