package filelist

import (
	"context"
	"iter"
	"math"
	"os"
	"path"
	"path/filepath"
)

// Limits of a listing.
const (
	maxFiles   = 20_000
	maxEntries = 100_000 // directory entries looked at
	maxDepth   = 24
)

// Listing is the files below a directory.
type Listing struct {
	Files []string // relative, with slashes, the nearest to the directory first
	More  bool     // a limit was reached: there may be more
}

// A directory waits to be read.
type directory struct {
	path    string // relative, "" for the root
	depth   int
	ignored []ignoreFile // that apply to it, the outermost first
}

// List lists the regular files below a directory. It follows no symbolic links, and leaves out .git
// and unreadable files. It stops early when ctx ends.
func List(ctx context.Context, root string) (out Listing) {
	out.More = walk(ctx, root, maxEntries, maxDepth, func(name string) bool {
		if len(out.Files) == maxFiles {
			return false
		}
		out.Files = append(out.Files, name)
		return true
	})
	return out
}

// All returns the files of List, without its limits.
func All(ctx context.Context, root string) iter.Seq[string] {
	return func(yield func(string) bool) { walk(ctx, root, math.MaxInt, math.MaxInt, yield) }
}

// walk visits the regular files below a directory that are not ignored, the nearest first, until visit returns false.
// It looks at most at so many entries and levels. more reports whether there may be more files.
func walk(ctx context.Context, root string, entries, levels int, visit func(name string) bool) (more bool) {
	queue := []directory{{ignored: parentIgnores(root)}}
	for len(queue) > 0 && ctx.Err() == nil {
		d := queue[0]
		queue = queue[1:]
		list, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(d.path)))
		if err != nil {
			continue
		}
		if f, ok := readIgnoreFile(filepath.Join(root, filepath.FromSlash(d.path)), d.path); ok {
			d.ignored = append(d.ignored[:len(d.ignored):len(d.ignored)], f)
		}
		for _, e := range list {
			if entries--; entries < 0 {
				return true
			}
			name := path.Join(d.path, e.Name())
			switch {
			case e.Name() == ".git" || ignored(d.ignored, name, e.IsDir()):
			case e.IsDir() && d.depth == levels:
				more = true
			case e.IsDir():
				queue = append(queue, directory{path: name, depth: d.depth + 1, ignored: d.ignored})
			case e.Type().IsRegular() && !visit(name):
				return true
			}
		}
	}
	return more
}
