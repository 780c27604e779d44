package localserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"agentctl/internal/atomicfile"
)

// maxSocketPath is the longest path of a Unix socket in bytes that every system accepts (darwin:
// 104), with room for the temporary name under which the socket is created.
const maxSocketPath = 100

// Socket returns the path of the Unix socket: the recorded one, else the one in the directory.
func (d Dir) Socket() string {
	if b, err := os.ReadFile(d.Path("socket")); err == nil {
		if path := strings.TrimSpace(string(b)); filepath.IsAbs(path) {
			return path
		}
	}
	return d.Path("agentctl.sock")
}

// SocketURL returns the URL of the socket.
func (d Dir) SocketURL() string { return "unix://" + d.Socket() }

// Answers reports whether the local socket accepts connections.
func (d Dir) Answers(ctx context.Context) bool {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", d.Socket())
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// PlaceSocket chooses the path of the socket and records it for clients if it is not in the
// directory. runtimeDir is XDG_RUNTIME_DIR; it may be empty.
func (d Dir) PlaceSocket(runtimeDir string) (string, error) {
	path := d.Path("agentctl.sock")
	if len(path) <= maxSocketPath {
		return path, removeFile(d.Path("socket"))
	}
	sum := sha256.Sum256([]byte(d))
	name := "agentctl-" + hex.EncodeToString(sum[:6]) + ".sock"
	if runtimeDir == "" {
		runtimeDir = filepath.Join("/tmp", fmt.Sprintf("agentctl-%d", os.Getuid()))
	}
	if err := createSocketDir(runtimeDir); err != nil {
		return "", err
	}
	path = filepath.Join(runtimeDir, name)
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("the path of the socket is too long (%d bytes): choose a shorter --data", len(path))
	}
	return path, atomicfile.Write(d.Path("socket"), []byte(path+"\n"), 0o600)
}

// createSocketDir creates a directory that only this user can open. It refuses an existing one that
// other users can open.
func createSocketDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("socket directory: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("socket directory: %w", err)
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ownedByUser(info) {
		return fmt.Errorf("socket directory: %s must belong to this user and be closed to others", dir)
	}
	return nil
}
