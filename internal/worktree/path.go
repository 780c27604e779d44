package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// DefaultPath is the directory of a worktree: beside its repository.
const DefaultPath = "../{repo}-{branch}"

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// CheckPath returns an error if a path is not a template of directories.
func CheckPath(template string) error {
	for _, name := range placeholder.FindAllString(template, -1) {
		if name != "{repo}" && name != "{branch}" {
			return fmt.Errorf("unknown placeholder %s: want {repo} or {branch}", name)
		}
	}
	if !strings.Contains(template, "{branch}") {
		return fmt.Errorf("no {branch} in %q: each worktree needs its own directory", template)
	}
	return nil
}

// expandPath returns the directory for a branch of a repository. A relative path begins at the
// repository, "~/" at the home directory. A slash in the branch becomes a hyphen.
func expandPath(template, repository, branch string) (string, error) {
	if err := CheckPath(template); err != nil {
		return "", err
	}
	path := strings.NewReplacer(
		"{repo}", filepath.Base(repository), "{branch}", strings.ReplaceAll(branch, "/", "-"),
	).Replace(filepath.FromSlash(template))
	if rest, ok := strings.CutPrefix(path, "~"+string(filepath.Separator)); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("worktree path %s: %w", template, err)
		}
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(repository, path)
	}
	return filepath.Clean(path), nil
}
