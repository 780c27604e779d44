package attach

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"agentctl/internal/atomicfile"
	"agentctl/internal/cli/verb"
	"agentctl/tui/sessionlist"
)

const maxReadState = 1 << 20 // bytes of the file

// A readState is the file in the user's state directory that records which turns the user has read.
type readState struct{ path string }

// newReadState returns the file of this user, or nil if there is no home directory.
func newReadState(cli *verb.Context) *readState {
	dir := cli.Env("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home := cli.Env("HOME")
		if runtime.GOOS == "windows" {
			home = cli.Env("LocalAppData")
		}
		if !filepath.IsAbs(home) {
			return nil
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return &readState{filepath.Join(dir, "agentctl", "read.json")}
}

// Load returns what the file records. A missing file records nothing.
func (r *readState) Load() (sessionlist.Read, error) {
	var read sessionlist.Read
	info, err := os.Stat(r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return read, nil
	case err == nil && info.Size() > maxReadState:
		err = fmt.Errorf("%d bytes, more than %d", info.Size(), maxReadState)
	}
	if err != nil {
		return read, fmt.Errorf("read %s: %w", r.path, err)
	}
	raw, err := os.ReadFile(r.path)
	if err != nil {
		return read, fmt.Errorf("read %s: %w", r.path, err)
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return sessionlist.Read{}, fmt.Errorf("read %s: %w; remove the file to start anew", r.path, err)
	}
	return read, nil
}

// Save adds to the file what a screen recorded. Of a session that another screen recorded too, the
// later turn counts.
func (r *readState) Save(read sessionlist.Read) error {
	stored, err := r.Load()
	if err == nil {
		read.Merge(stored)
	}
	raw, err := json.Marshal(read)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return fmt.Errorf("save what was read: %w", err)
	}
	if err := atomicfile.Write(r.path, raw, 0o600); err != nil {
		return fmt.Errorf("save what was read: %w", err)
	}
	return nil
}
