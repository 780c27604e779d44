package attach

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/internal/atomicfile"
	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/tui/split"
)

// maxLayoutFile is the maximum number of bytes of a layoutFile.
const maxLayoutFile = 64 << 10

// A layoutFile is the file in the user's state directory that keeps the sessions that were side by
// side on the screen of one server.
type layoutFile struct{ path, server string }

// storedLayout is the content of a layoutFile.
type storedLayout struct {
	Server string       `json:"server"`
	Hidden bool         `json:"hidden,omitempty"` // the user left the dashboard
	Layout split.Layout `json:"layout"`
}

// newLayoutFile returns the file for the server of the user, or nil if the system has no place for
// it.
func newLayoutFile(cli *verb.Context) *layoutFile {
	dir := config.StateDir(cli.Env)
	if dir == "" {
		return nil
	}
	server := stateServer(cli)
	sum := sha256.Sum256([]byte(server))
	return &layoutFile{filepath.Join(dir, "layouts", hex.EncodeToString(sum[:16])+".json"), server}
}

// Load returns the layout of the file. A missing or damaged file is an empty layout.
func (f *layoutFile) Load() (l split.Layout, hidden bool) {
	info, err := os.Stat(f.path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxLayoutFile {
		return split.Layout{}, false
	}
	var stored storedLayout
	data, err := os.ReadFile(f.path)
	if err != nil || json.Unmarshal(data, &stored) != nil || stored.Server != f.server {
		return split.Layout{}, false
	}
	return stored.Layout, stored.Hidden
}

// Save replaces the file. A layout without sessions removes it.
func (f *layoutFile) Save(l split.Layout, hidden bool) error {
	err := f.save(l, hidden)
	if err != nil {
		return fmt.Errorf("save the layout of the screen: %w", err)
	}
	return nil
}

func (f *layoutFile) save(l split.Layout, hidden bool) error {
	if l.Len() == 0 {
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.Marshal(storedLayout{f.server, hidden, l})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(f.path, data, 0o600)
}

// paneOptions returns the sessions that were side by side when the user left, without those that
// are gone. sessions are those of the server; nil: the user named a session, and nothing is
// restored.
func paneOptions(cli *verb.Context, sessions []protocol.Summary) tui.PaneOptions {
	file := newLayoutFile(cli)
	if file == nil {
		return tui.PaneOptions{}
	}
	o := tui.PaneOptions{Save: file.Save}
	if sessions == nil {
		return o
	}
	o.Layout, o.Hidden = file.Load()
	o.Layout = o.Layout.Keep(func(id string) bool {
		server, _, other := strings.Cut(id, "/")
		if _, named := cli.User.Servers[server]; other && named {
			return true // its server is not connected yet
		}
		return slices.ContainsFunc(sessions, func(s protocol.Summary) bool { return s.Session == id })
	})
	return o
}
