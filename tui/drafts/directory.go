package drafts

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/internal/userstate"
)

// Bounds of the directory.
const (
	maxFileBytes = 8 << 20 // of a draft with its files
	maxFiles     = 200     // drafts of all servers; the oldest are removed
)

// errTooLarge is the error of a draft that exceeds maxFileBytes.
var errTooLarge = errors.New("the text and its files are larger than 8 MiB")

// directory holds a file for each draft, readable only by the user.
type directory struct {
	dir    userstate.Dir
	server string
}

// storedDraft is the content of a file.
type storedDraft struct {
	Server  string `json:"server"`
	Session string `json:"session"`
	Draft
}

// file returns the file of a session.
func (d directory) file(session string) userstate.File {
	sum := sha256.Sum256([]byte(d.server + "\x00" + session))
	return d.dir.File(hex.EncodeToString(sum[:16])+".json", maxFileBytes)
}

// read returns the draft of a session. A file that cannot be read counts as none.
func (d directory) read(session string) Draft {
	var stored storedDraft
	if d.file(session).Load(&stored) != nil || stored.Session != session || stored.Server != d.server {
		return Draft{}
	}
	return stored.Draft
}

// write replaces the file of a session. An empty draft removes it.
func (d directory) write(session string, draft Draft) error {
	file := d.file(session)
	if draft.Empty() {
		return file.Remove()
	}
	err := file.Save(storedDraft{d.server, session, draft})
	switch {
	case errors.Is(err, userstate.ErrTooLarge):
		return errTooLarge
	case err != nil:
		return err
	}
	return d.removeOldest()
}

// removeOldest removes the oldest drafts beyond maxFiles.
func (d directory) removeOldest() error {
	entries, err := os.ReadDir(d.dir.Path())
	if err != nil || len(entries) <= maxFiles {
		return err
	}
	modified := map[string]time.Time{}
	var names []string
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".json") {
			names = append(names, e.Name())
			modified[e.Name()] = info.ModTime()
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(modified[a].Compare(modified[b]), strings.Compare(a, b))
	})
	for _, name := range names[:max(0, len(names)-maxFiles)] {
		if err := os.Remove(filepath.Join(d.dir.Path(), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
