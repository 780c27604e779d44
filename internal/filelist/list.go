package filelist

import (
	"context"
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
func List(ctx context.Context, root string) Listing {
	var out Listing
	queue := []directory{{ignored: parentIgnores(root)}}
	entries := 0
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
			if entries++; entries > maxEntries || len(out.Files) == maxFiles {
				out.More = true
				return out
			}
			name := path.Join(d.path, e.Name())
			switch {
			case e.Name() == ".git" || ignored(d.ignored, name, e.IsDir()):
			case e.IsDir() && d.depth == maxDepth:
				out.More = true
			case e.IsDir():
				queue = append(queue, directory{path: name, depth: d.depth + 1, ignored: d.ignored})
			case e.Type().IsRegular():
				out.Files = append(out.Files, name)
			}
		}
	}
	return out
}
