package attach

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"agentctl/internal/cli/verb"
	"agentctl/internal/userstate"
	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/tui/split"
)

// maxLayoutFile is the maximum number of bytes of a layoutFile.
const maxLayoutFile = 64 << 10

// A layoutFile is the file in the user's state directory that keeps the sessions that were side by
// side on the screen of one server.
type layoutFile struct {
	file   userstate.File
	server string
}

// storedLayout is the content of a layoutFile.
type storedLayout struct {
	Server string       `json:"server"`
	Hidden bool         `json:"hidden,omitempty"` // the user left the dashboard
	Layout split.Layout `json:"layout"`
}

// newLayoutFile returns the file for the server of the user, or nil if the system has no place for
// it.
func newLayoutFile(cli *verb.Context) *layoutFile {
	dir := userstate.Find(cli.Env)
	if dir.Path() == "" {
		return nil
	}
	server := stateServer(cli)
	sum := sha256.Sum256([]byte(server))
	return &layoutFile{dir.Sub("layouts").File(hex.EncodeToString(sum[:16])+".json", maxLayoutFile), server}
}

// Load returns the layout of the file. A missing or damaged file is an empty layout.
func (f *layoutFile) Load() (l split.Layout, hidden bool) {
	var stored storedLayout
	if f.file.Load(&stored) != nil || stored.Server != f.server {
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
		return f.file.Remove()
	}
	return f.file.Save(storedLayout{f.server, hidden, l})
}

// paneOptions returns the sessions that were side by side when the user left, without those that
// were removed. sessions are the server's; nil: the user named a session, and nothing is
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
