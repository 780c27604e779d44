package localserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"agentctl/internal/exit"
	"agentctl/server/sqlite/dirlock"
)

// A Dir is the absolute path of a data directory. At most one server runs on it.
type Dir string

// FindDir returns the data directory: name if it is not empty, else the default one of the user in
// env.
func FindDir(env func(string) string, name string) (Dir, error) {
	if name == "" {
		base, err := dataHome(env)
		if err != nil {
			return "", err
		}
		name = filepath.Join(base, "agentctl")
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", fmt.Errorf("data directory: %w", err)
	}
	return Dir(abs), nil
}

func dataHome(env func(string) string) (string, error) {
	if runtime.GOOS == "windows" {
		if dir := env("LocalAppData"); dir != "" {
			return dir, nil
		}
	}
	if dir := env("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home := env("HOME")
	if home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return "", fmt.Errorf("no data directory: %w; pass --data", err)
		}
	}
	return filepath.Join(home, ".local", "share"), nil
}

// Path returns the path of a file in the directory.
func (d Dir) Path(name string) string { return filepath.Join(string(d), name) }

// Create creates the directory if necessary and removes the permissions of other users. It refuses
// a directory that is writable for everybody, such as /tmp, and one of another user.
func (d Dir) Create() error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	info, err := os.Stat(string(d))
	switch {
	case err != nil:
		return fmt.Errorf("data directory: %w", err)
	case Supported && info.Mode().Perm()&0o002 != 0:
		return exit.Usagef("data directory: %s is writable for everybody: choose another --data", d)
	case Supported && !ownedByUser(info):
		return exit.Usagef("data directory: %s belongs to another user: choose another --data", d)
	}
	if err := os.Chmod(string(d), 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	return nil
}

// Holder returns the process id of the server on the directory, or 0 if none runs.
func (d Dir) Holder() int {
	if !Supported {
		return 0
	}
	return dirlock.Holder(string(d))
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
