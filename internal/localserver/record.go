package localserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"agentctl/internal/atomicfile"
)

// Files with facts about the running server, for clients on this machine.
const (
	configPathFile   = "config_path"
	logPathFile      = "log_path"
	defaultAgentFile = "default_agent"
	urlFile          = "url"
	openFile         = "open"
)

// RecordConfig records the path of the running server's configuration file; "": no file.
func (d Dir) RecordConfig(path string) error { return d.recordPath(configPathFile, path) }

// ConfigPath returns the path of the running server's configuration file, or "" if no server runs
// or it has none.
func (d Dir) ConfigPath() string { return d.recordedText(configPathFile) }

// RecordDefaultAgent records the default agent that a flag of the running server names; "": no
// flag.
func (d Dir) RecordDefaultAgent(name string) error { return d.recordText(defaultAgentFile, name) }

// DefaultAgent returns the default agent that a flag of the running server names, or "".
func (d Dir) DefaultAgent() string { return d.recordedText(defaultAgentFile) }

// RecordLog records the path of the running server's log file; "" is standard error.
func (d Dir) RecordLog(path string) error { return d.recordPath(logPathFile, path) }

// LogPath returns the path of the running server's log file, or "" if it logs to standard error. If
// no server runs, it returns the log path of background servers.
func (d Dir) LogPath() string {
	if d.Holder() == 0 {
		return d.Path(serverLog)
	}
	return d.recordedText(logPathFile)
}

// Forget removes the records of a server that ends: its configuration, its log and its URLs.
func (d Dir) Forget() error {
	return errors.Join(removeFile(d.Path(urlFile)), removeFile(d.Path(configPathFile)), removeFile(d.Path(logPathFile)))
}

func (d Dir) recordPath(file, path string) error {
	if path != "" {
		var err error
		if path, err = filepath.Abs(path); err != nil {
			return fmt.Errorf("record the server's files: %w", err)
		}
	}
	return d.recordText(file, path)
}

func (d Dir) recordText(file, text string) error {
	err := removeFile(d.Path(file))
	if err == nil && text != "" {
		err = atomicfile.Write(d.Path(file), []byte(text), 0o600)
	}
	if err != nil {
		return fmt.Errorf("record the server's files: %w", err)
	}
	return nil
}

func (d Dir) recordedText(file string) string {
	b, err := os.ReadFile(d.Path(file))
	if err != nil || d.Holder() == 0 {
		return ""
	}
	return string(b)
}
