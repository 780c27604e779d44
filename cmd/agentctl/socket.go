package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxSocketPath is the longest path of a Unix socket on every system that has one (104 bytes on darwin), with
// room for the name that it is made under.
const maxSocketPath = 100

// socket returns the path of the Unix socket: as recorded, else the directory's own.
func (d dataDir) socket() string {
	if b, err := os.ReadFile(d.path("socket")); err == nil {
		if path := strings.TrimSpace(string(b)); filepath.IsAbs(path) {
			return path
		}
	}
	return d.path("agentctl.sock")
}

// socketURL is the URL of the socket.
func (d dataDir) socketURL() string { return "unix://" + d.socket() }

// placeSocket decides where the socket is and records it where clients look. runtimeDir is the user's own short-lived directory,
// if there is one.
func (d dataDir) placeSocket(runtimeDir string) (string, error) {
	path := d.path("agentctl.sock")
	if len(path) <= maxSocketPath {
		return path, removeFile(d.path("socket"))
	}
	sum := sha256.Sum256([]byte(d))
	name := "agentctl-" + hex.EncodeToString(sum[:6]) + ".sock"
	if runtimeDir == "" {
		runtimeDir = filepath.Join("/tmp", fmt.Sprintf("agentctl-%d", os.Getuid()))
	}
	if err := ownDir(runtimeDir); err != nil {
		return "", err
	}
	path = filepath.Join(runtimeDir, name)
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("the path of the socket is too long (%d bytes): choose a shorter --data", len(path))
	}
	return path, writePrivate(d.path("socket"), path+"\n")
}

// ownDir makes a directory that belongs to this user alone, or refuses the one that is there.
func ownDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("directory of the socket: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("directory of the socket: %w", err)
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ownedByUser(info) {
		return fmt.Errorf("directory of the socket: %s is not this user's alone", dir)
	}
	return nil
}
