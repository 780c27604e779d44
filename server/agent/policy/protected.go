package policy

import (
	"path/filepath"
	"slices"
	"strings"
)

// ownDirectories are the directories in which agentctl keeps files of its own by default.
var ownDirectories = []string{".config/agentctl", ".local/share/agentctl", ".local/state/agentctl"}

// Protected reports whether a change of a file could run programs later, or change what agents may
// do: files of git and of agentctl. The path is absolute and without links; own are further
// directories of agentctl.
func Protected(path string, own []string) bool {
	slashed := filepath.ToSlash(path)
	for name := range strings.SplitSeq(slashed, "/") {
		if strings.EqualFold(name, ".git") {
			return true
		}
	}
	below := func(dir string) bool { return strings.Contains(slashed+"/", "/"+dir+"/") }
	return slices.ContainsFunc(ownDirectories, below) || slices.ContainsFunc(own, func(dir string) bool {
		name, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(name)
	})
}
