package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// MaxPatch is the maximum size of the patch of a file or directory, in bytes.
const MaxPatch = 256 << 10

// Diff returns a patch of the files at a path below a directory, from the last commit to the files as
// they are. Files that git does not know are new ones in it, unless git ignores them. Of a longer patch it
// returns the first MaxPatch bytes, to the end of a line, and cut is true. ok is false if the directory is
// in no repository. It runs git as a reader does, and follows no link out of the directory.
func Diff(ctx context.Context, dir, name string) (patch string, cut, ok bool, err error) {
	if !filepath.IsLocal(name) {
		return "", false, false, fmt.Errorf("path %q is not below the directory", name)
	}
	r, err := newReader(ctx, dir)
	if r == nil {
		return "", false, false, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	out := &capped{max: MaxPatch}
	err = r.diff(ctx, out, name, "--no-color", "--relative")
	if err == nil {
		err = r.appendUnknown(ctx, out, name)
	}
	if errors.Is(err, errTooLong) {
		return string(out.bytes[:bytes.LastIndexByte(out.bytes, '\n')+1]), true, true, nil
	}
	return string(out.bytes), false, err == nil, err
}

// appendUnknown appends the files at a path that git neither knows nor ignores.
func (r *reader) appendUnknown(ctx context.Context, out *capped, name string) error {
	list := &capped{max: maxStatusOutput}
	err := r.run(ctx, list, "ls-files", "--others", "--exclude-standard", "-z", "--", name)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for file := range bytes.SplitSeq(bytes.TrimSuffix(list.bytes, []byte{0}), []byte{0}) {
		if _, err := io.WriteString(out, newFile(root, string(file), MaxPatch-len(out.bytes))); err != nil {
			return err
		}
	}
	return nil
}

// newFile returns a patch that makes a file of a directory. It reads at most limit bytes of the file and
// one more, so that the patch of a longer file is longer than limit.
func newFile(root *os.Root, name string, limit int) string {
	quoted := "b/" + name
	if strings.ContainsAny(name, "\r\n\t\"\\") {
		quoted = strconv.Quote(quoted)
	}
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() { // before opening: a pipe would block
		return ""
	}
	f, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return ""
	}
	head := "--- /dev/null\n+++ " + quoted + "\n"
	switch {
	case bytes.IndexByte(text, 0) >= 0:
		return "Binary files /dev/null and " + quoted + " differ\n"
	case len(text) == 0:
		return head
	}
	lines := strings.SplitAfter(string(text), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	patch := fmt.Sprintf("%s@@ -0,0 +1,%d @@\n+%s", head, len(lines), strings.Join(lines, "+"))
	if !strings.HasSuffix(patch, "\n") {
		patch += "\n\\ No newline at end of file\n"
	}
	return patch
}
