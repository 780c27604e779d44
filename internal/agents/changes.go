package agents

import (
	"os"
	"path/filepath"
)

// RemoveFiles implements session.FileKeeper: it removes the records of changed files.
func (r *Registry) RemoveFiles(exists func(session string) bool) {
	if r.Changes == "" {
		return
	}
	entries, _ := os.ReadDir(r.Changes) // none before the first change
	for _, e := range entries {
		if !exists(e.Name()) {
			_ = os.RemoveAll(filepath.Join(r.Changes, e.Name())) // again at the next start
		}
	}
}

// RemoveFiles implements session.FileKeeper with the current registry.
func (c *Current) RemoveFiles(exists func(session string) bool) {
	c.registry.Load().RemoveFiles(exists)
}
