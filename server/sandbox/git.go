package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// setGit sets the access of the repository that contains a directory. A process may commit, fetch
// and switch branches, but not change what git runs: its configuration, its hooks, and the files
// that say where both are. A mount cannot be renamed or replaced, so neither can they.
func (b *Box) setGit(t table, cwd string) error {
	for dir := cwd; dir != b.home && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		info, err := os.Lstat(git)
		switch {
		case err != nil:
			continue
		case info.IsDir():
			t.set(git, write)
			return b.protectGit(t, git, dir)
		case info.Mode().IsRegular():
			common, err := linkedRepository(git)
			if err != nil {
				return nil //nolint:nilerr // what a process wrote there opens no other directory
			}
			t.set(common, write)
			t.set(git, read)
			return b.protectGit(t, common, dir)
		}
		return nil
	}
	return nil
}

// linkedRepository returns the directory of git that the file .git of a worktree or a submodule
// names. That directory must name the file: it is outside of what a process in a sandbox writes.
func linkedRepository(file string) (string, error) {
	dir, err := pointer(file, "gitdir: ")
	if err != nil {
		return "", err
	}
	if back, err := pointer(filepath.Join(dir, "gitdir"), ""); err == nil && back == file {
		common, err := pointer(filepath.Join(dir, "commondir"), "")
		if err == nil && filepath.Dir(dir) == filepath.Join(common, "worktrees") {
			return common, nil
		}
	}
	for _, tree := range configured(filepath.Join(dir, "config"), "worktree") {
		if real, err := filepath.EvalSymlinks(filepath.Join(dir, tree)); err == nil && real == filepath.Dir(file) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%s names a directory that does not name it", file)
}

// pointer returns the path in a file of git, without links.
func pointer(file, prefix string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(strings.TrimSuffix(string(b), "\n"), prefix)
	if !ok || path == "" {
		return "", fmt.Errorf("%s: want %sPATH", file, prefix)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	return filepath.EvalSymlinks(path)
}

// protectGit protects what git runs in a repository and in its submodules.
func (b *Box) protectGit(t table, git, tree string) error {
	if err := b.protectGitDir(t, git, tree); err != nil {
		return err
	}
	linked, _ := filepath.Glob(filepath.Join(git, "worktrees", "*"))
	for _, dir := range linked {
		for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
			t.set(filepath.Join(dir, name), read)
		}
	}
	err := filepath.WalkDir(filepath.Join(git, "modules"), func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !e.IsDir():
			return nil
		case e.Name() == "objects" || e.Name() == "refs" || e.Name() == "logs":
			return fs.SkipDir
		}
		if _, err := os.Lstat(filepath.Join(path, "HEAD")); err != nil {
			return nil
		}
		tree := ""
		for _, name := range configured(filepath.Join(path, "config"), "worktree") {
			tree = filepath.Join(path, name)
			t.set(filepath.Join(tree, ".git"), read)
		}
		return b.protectGitDir(t, path, tree)
	})
	if err != nil {
		return fmt.Errorf("protect the submodules of %s: %w", git, err)
	}
	return nil
}

// protectGitDir protects one directory of git. tree is its working tree, or empty.
func (b *Box) protectGitDir(t table, git, tree string) error {
	if _, err := os.Lstat(filepath.Join(git, "HEAD")); err != nil {
		return nil //nolint:nilerr // it is no repository
	}
	config, hooks := filepath.Join(git, "config"), filepath.Join(git, "hooks")
	if err := os.Mkdir(hooks, 0o755); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // as git makes it
		return fmt.Errorf("protect the hooks of git: %w", err)
	}
	if err := create(config); err != nil {
		return err
	}
	for _, path := range []string{config, hooks} {
		info, err := os.Lstat(path)
		if err != nil {
			return fmt.Errorf("protect what git runs: %w", err)
		}
		if info.Mode().Type() == fs.ModeSymlink {
			return fmt.Errorf("protect what git runs: %s is a link: replace it by what it names", path)
		}
		t.set(path, read)
	}
	if configured(config, "worktreeconfig") != nil {
		if err := create(filepath.Join(git, "config.worktree")); err != nil {
			return err
		}
	}
	t.set(filepath.Join(git, "config.worktree"), read)
	for _, name := range append(configured(config, "hookspath"), configured(config, "path")...) {
		for _, base := range []string{git, tree} {
			path := name
			if !filepath.IsAbs(path) {
				path = filepath.Join(base, name)
			}
			if t.at(path).access == write {
				t.set(path, read)
			}
		}
	}
	return b.host.holdCommonDir(t, filepath.Join(git, "commondir"))
}

// create makes an empty file unless it exists.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("protect what git runs: %w", err)
	}
	return f.Close()
}

// selfCommonDir is the content of a file commondir that changes nothing: git finds configuration
// and hooks in the directory of the file.
const selfCommonDir = ".\n"

// holdCommonDir keeps processes from creating the file that tells git where configuration and hooks
// are. The file stays until Close.
func (h *Host) holdCommonDir(t table, path string) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		b = []byte(selfCommonDir)
		if err = h.recordHeld(path); err == nil {
			err = os.WriteFile(path, b, 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("protect what git runs: %w", err)
	}
	if string(b) == selfCommonDir {
		h.mu.Lock()
		h.held[path] = true
		h.mu.Unlock()
	}
	t.set(path, read)
	return nil
}

// releaseCommonDirs removes the files of holdCommonDir.
func (h *Host) releaseCommonDirs() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for path := range h.held {
		releaseCommonDir(path)
	}
	clear(h.held)
}

func releaseCommonDir(path string) {
	if b, err := os.ReadFile(path); err == nil && string(b) == selfCommonDir && filepath.Base(path) == "commondir" {
		_ = os.Remove(path)
	}
}

// heldFile is the name of the list of held files in Options.Dir, for the server after a killed one.
const heldFile = "held"

// recordHeld adds a path to the list.
func (h *Host) recordHeld(path string) error {
	if err := os.MkdirAll(h.options.Dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(h.options.Dir, heldFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(path + "\n")
	return errors.Join(err, f.Close())
}

// RemoveLeft removes what the sandboxes of a killed server left: files in repositories, and the directory,
// which is the one of Options.Dir. No process in a sandbox may run.
func RemoveLeft(dir string) error {
	list, _ := os.ReadFile(filepath.Join(dir, heldFile)) // none without a repository
	for path := range strings.Lines(string(list)) {
		releaseCommonDir(strings.TrimSuffix(path, "\n"))
	}
	return os.RemoveAll(dir)
}

// configured returns the values of a key in a configuration file of git, whatever its section.
func configured(file, key string) (values []string) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(b) {
		name, value, ok := strings.Cut(string(line), "=")
		if _, after, section := strings.Cut(name, "]"); section {
			name = after
		}
		if ok && strings.EqualFold(strings.TrimSpace(name), key) {
			values = append(values, strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return values
}
