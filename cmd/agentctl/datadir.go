package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// A dataDir is where the local server keeps all it has: mode 0700, locked by the server that runs on it. Files in it:
//
//	serving       locked by the server that runs; the system tells whose lock it is
//	agentctl.sock the Unix socket, 0600
//	socket        the socket's path, when the directory's own is too long for a socket
//	token         the credential of loopback TCP, 0600, kept over restarts
//	url           the URLs that the token may be sent to, while a server runs
//	secret        what exported states are signed with, 0600
//	key           what credentials are signed with, 0600
//	logins        the credentials that other servers gave for a password, 0600
//	server.log    what a background server says
//
// The store has its own files and its own lock beside them.
type dataDir string

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

// make creates the directory and takes it from everybody else; not one that everybody uses, such as /tmp.
func (d dataDir) make() error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	info, err := os.Stat(string(d))
	switch {
	case err != nil:
		return fmt.Errorf("data directory: %w", err)
	case canServe && info.Mode().Perm()&0o002 != 0:
		return usagef("data directory: anybody can write to %s: choose one of your own", d)
	}
	if err := os.Chmod(string(d), 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	return nil
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
