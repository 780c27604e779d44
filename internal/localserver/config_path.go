package localserver

import (
	"fmt"
	"os"
	"path/filepath"
)

// Files that hold a path, while a server runs.
const (
	configPathFile = "config_path"
	logPathFile    = "log_path"
)

// recordConfig records the path of the running server's configuration file; "" is none.
func (d Dir) recordConfig(path string) error { return d.recordPath(configPathFile, path) }

// ConfigPath returns the path of the running server's configuration file, or "" if no server runs
// or it has none.
func (d Dir) ConfigPath() string { return d.recordedPath(configPathFile) }

// RecordLog records the path of the running server's log file; "" is standard error.
func (d Dir) RecordLog(path string) error { return d.recordPath(logPathFile, path) }

// LogPath returns the path of the running server's log file, or "" if it logs to standard error. If
// no server runs, it returns that of background servers.
func (d Dir) LogPath() string {
	if d.Holder() == 0 {
		return d.Path(serverLog)
	}
	return d.recordedPath(logPathFile)
}

func (d Dir) recordPath(file, path string) error {
	err := removeFile(d.Path(file))
	if err == nil && path != "" {
		if path, err = filepath.Abs(path); err == nil {
			err = WritePrivate(d.Path(file), path)
		}
	}
	if err != nil {
		return fmt.Errorf("record the server's files: %w", err)
	}
	return nil
}

func (d Dir) recordedPath(file string) string {
	b, err := os.ReadFile(d.Path(file))
	if err != nil || d.Holder() == 0 {
		return ""
	}
	return string(b)
}
