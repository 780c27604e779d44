package worktree

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// reader reads a repository whose directory an agent may write. It writes nothing there and runs no
// program that the repository names: git reads the index and the objects alone, beside an empty
// configuration.
type reader struct {
	dir     string
	head    string   // the last commit; "": none
	private string   // a directory that git takes for a repository
	env     []string // of git
}

// emptyTree is what a repository without commits is compared with.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// newReader returns a reader of the repository of a directory, or nil if the directory is in none.
func newReader(ctx context.Context, dir string) (*reader, error) {
	const places = "--path-format=absolute --show-toplevel --git-dir --git-common-dir"
	out, err := git(ctx, dir, append([]string{"rev-parse"}, strings.Fields(places)...)...)
	if err != nil {
		return nil, ctx.Err()
	}
	paths := strings.Split(out, "\n")
	if len(paths) != 3 {
		return nil, nil // a bare repository, or a name with a line break
	}
	r := &reader{dir: dir}
	r.head, _ = git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if r.private, err = os.MkdirTemp("", "agentctl-status-"); err != nil {
		return nil, err
	}
	err = errors.Join(os.Mkdir(filepath.Join(r.private, "refs"), 0o700),
		os.WriteFile(filepath.Join(r.private, "HEAD"), []byte(cmp.Or(r.head, "ref: refs/heads/none")+"\n"), 0o600))
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	r.env = []string{
		"GIT_DIR=" + r.private, "GIT_WORK_TREE=" + paths[0], "GIT_INDEX_FILE=" + filepath.Join(paths[1], "index"),
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(paths[2], "objects"), "GIT_LITERAL_PATHSPECS=1",
	}
	return r, nil
}

// close removes what the reader made.
func (r *reader) close() error { return os.RemoveAll(r.private) }

// run runs git. Its output goes to out. It returns errTooLong if that is full.
func (r *reader) run(ctx context.Context, out *capped, args ...string) error {
	err := run(ctx, r.dir, r.env, out, args...)
	if out.full && ctx.Err() == nil {
		return errTooLong
	}
	return err
}

// diff compares the files at a path with the last commit.
func (r *reader) diff(ctx context.Context, out *capped, path string, options ...string) error {
	args := append([]string{"diff"}, options...)
	return r.run(ctx, out, append(args, "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all",
		cmp.Or(r.head, emptyTree), "--", path)...)
}

// errTooLong reports that git printed more than a capped buffer holds.
var errTooLong = errors.New("too many changed files")

// capped takes at most max bytes. It ends git with a failed write once it has taken them.
type capped struct {
	bytes []byte
	max   int
	full  bool // a write failed
}

func (c *capped) Write(b []byte) (int, error) {
	n := min(len(b), c.max-len(c.bytes))
	c.bytes = append(c.bytes, b[:n]...)
	if n < len(b) {
		c.full = true
		return n, errTooLong
	}
	return n, nil
}
