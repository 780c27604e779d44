package realpath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Resolve returns an absolute path as the system finds it: without links, each .. after the link
// before it. existing is the part of it that exists: the last elements may not. A path below a link
// that leads nowhere, in a loop of links or in a directory that cannot be read is an error.
func Resolve(path string) (real, existing string, err error) {
	if !filepath.IsAbs(path) {
		return "", "", fmt.Errorf("%s is not absolute", path)
	}
	before, after, up := strings.Cut(filepath.ToSlash(path)+"/", "/../")
	for up {
		if real, _, err = follow(before + "/"); err != nil {
			return "", "", err
		}
		before, after, up = strings.Cut(strings.TrimSuffix(filepath.ToSlash(filepath.Dir(real)), "/")+"/"+after, "/../")
	}
	return follow(before + "/" + after)
}

// follow resolves a path without .. elements.
func follow(path string) (real, existing string, err error) {
	path = filepath.Clean(path)
	for dir, rest := path, ""; ; dir = filepath.Dir(dir) {
		resolved, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(resolved, rest), resolved, nil
		}
		if _, found := os.Lstat(dir); found == nil {
			return "", "", fmt.Errorf("%s is a link that leads nowhere", dir)
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", "", fmt.Errorf("find %s: %w", path, err)
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}
