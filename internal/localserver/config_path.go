package localserver

import (
	"fmt"
	"os"
	"path/filepath"
)

// RecordConfig records the path of the running server's configuration file; "" is none.
func (d Dir) RecordConfig(path string) error {
	err := removeFile(d.Path("config_path"))
	if err == nil && path != "" {
		if path, err = filepath.Abs(path); err == nil {
			err = WritePrivate(d.Path("config_path"), path)
		}
	}
	if err != nil {
		return fmt.Errorf("record the server's configuration: %w", err)
	}
	return nil
}

// ConfigPath returns the path of the running server's configuration file, or "" if no server runs
// or it has none.
func (d Dir) ConfigPath() string {
	b, err := os.ReadFile(d.Path("config_path"))
	if err != nil || d.Holder() == 0 {
		return ""
	}
	return string(b)
}
