package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// A dataDir is where the local server keeps all it has: mode 0700, locked by the server that runs on it. Files in it:
//
//	serving       locked by the server that runs; the system tells whose lock it is
//	agentctl.sock the Unix socket, 0600
//	socket        the socket's path, when the directory's own is too long for a socket
//	token         the credential of loopback TCP, 0600, kept over restarts
//	url           the URLs that the token may be sent to, while a server runs
//	secret        what exported states are signed with, 0600
//	server.log    what a background server says
//
// The store has its own files and its own lock beside them.
type dataDir string

// maxSocketPath is the longest path of a Unix socket on every system that has one (104 bytes on darwin), with
// room for the name that it is made under.
const maxSocketPath = 100

// dataDir finds the data directory: --data or AGENTCTL_DATA, else the user's own.
func (a *app) dataDir() (dataDir, error) {
	dir := a.flags.Data
	if dir == "" {
		base, err := a.dataHome()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, "agentctl")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("data directory: %w", err)
	}
	return dataDir(abs), nil
}

func (a *app) dataHome() (string, error) {
	if runtime.GOOS == "windows" {
		if dir := a.env("LocalAppData"); dir != "" {
			return dir, nil
		}
	}
	if dir := a.env("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home := a.env("HOME")
	if home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return "", fmt.Errorf("no data directory: %w; name one with --data", err)
		}
	}
	return filepath.Join(home, ".local", "share"), nil
}

func (d dataDir) path(name string) string { return filepath.Join(string(d), name) }

// make creates the directory and takes it from everybody else.
func (d dataDir) make() error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if err := os.Chmod(string(d), 0o700); err != nil { //nolint:gosec // a directory needs x
		return fmt.Errorf("data directory: %w", err)
	}
	return nil
}

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

// token returns the local credential, made on first use.
func (d dataDir) token() (string, error) { return d.random("token") }

// random returns the contents of a private file of 32 random bytes in hex, made on first use.
func (d dataDir) random(name string) (string, error) {
	b, err := os.ReadFile(d.path(name))
	if value := strings.TrimSpace(string(b)); err == nil && value != "" {
		return value, os.Chmod(d.path(name), 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	raw := make([]byte, 32)
	rand.Read(raw)
	value := hex.EncodeToString(raw)
	return value, writePrivate(d.path(name), value)
}

// tokenFor returns the local credential if url is one that the running local server recorded, else nothing.
func (d dataDir) tokenFor(url string) string {
	b, err := os.ReadFile(d.path("url"))
	if err != nil || d.owner() == 0 { // a dead server's port may be anybody's by now
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if sameServer(strings.TrimSpace(line), url) {
			token, err := os.ReadFile(d.path("token"))
			if err != nil {
				return ""
			}
			return strings.TrimSpace(string(token))
		}
	}
	return ""
}

// sameServer reports whether two URLs name the same host and port with the same security.
func sameServer(a, b string) bool {
	u, err := url.Parse(a)
	v, err2 := url.Parse(b)
	if err != nil || err2 != nil || u.Host == "" {
		return false
	}
	scheme := func(s string) string {
		switch s {
		case "http":
			return "ws"
		case "https":
			return "wss"
		}
		return s
	}
	return strings.EqualFold(u.Host, v.Host) && scheme(u.Scheme) == scheme(v.Scheme)
}

// writePrivate replaces a file that only this user may read, whole or not at all.
func writePrivate(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
