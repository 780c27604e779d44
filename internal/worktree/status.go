package worktree

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Bounds of a status.
const (
	MaxChanges      = 1000    // files
	maxStatusOutput = 4 << 20 // bytes that git prints
)

// A Change is a file that differs from the last commit.
type Change struct {
	Path           string // below the directory; the path of a directory without tracked files ends with /
	Code           string // of git status, such as M, A, D, U or ?
	Added, Removed int    // lines; both 0 for an untracked or binary file
}

// errTooLong reports that git printed more than maxStatusOutput.
var errTooLong = errors.New("too many changed files")

// Status returns the files below a directory that differ from the last commit, at most MaxChanges. ok is
// false if the directory is in no repository. It writes nothing and runs no program that the repository
// names, whose directory an agent may write: git reads the index and the objects alone, beside an empty
// configuration.
func Status(ctx context.Context, dir string) (changes []Change, ok bool, err error) {
	const places = "--path-format=absolute --show-toplevel --git-dir --git-common-dir"
	out, err := git(ctx, dir, append([]string{"rev-parse"}, strings.Fields(places)...)...)
	if err != nil {
		return nil, false, ctx.Err()
	}
	paths := strings.Split(out, "\n")
	if len(paths) != 3 {
		return nil, false, nil // a bare repository, or a name with a line break
	}
	prefix, err := git(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, false, err
	}
	head, _ := git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	private, err := privateGitDir(head)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(private)) }()
	env := []string{
		"GIT_DIR=" + private, "GIT_WORK_TREE=" + paths[0], "GIT_INDEX_FILE=" + filepath.Join(paths[1], "index"),
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(paths[2], "objects"),
	}
	var list bytes.Buffer
	err = run(ctx, dir, env, &capped{&list}, "status", "--porcelain=v1", "-z", "--no-renames",
		"--ignore-submodules=all", "--untracked-files=normal", "--", ".")
	if err != nil {
		return nil, false, err
	}
	var counts bytes.Buffer
	if head != "" {
		err = run(ctx, dir, env, &capped{&counts}, "diff", "--numstat", "-z", "--no-renames", "--no-ext-diff",
			"--no-textconv", "--ignore-submodules=all", head, "--", ".")
		if err != nil {
			return nil, false, err
		}
	}
	return parseStatus(list.String(), counts.String(), prefix), true, nil
}

// privateGitDir makes a directory that git takes for a repository with a commit as its head, or without
// one if head is empty.
func privateGitDir(head string) (dir string, err error) {
	if head == "" {
		head = "ref: refs/heads/none"
	}
	if dir, err = os.MkdirTemp("", "agentctl-status-"); err != nil {
		return "", err
	}
	err = errors.Join(os.Mkdir(filepath.Join(dir, "refs"), 0o700),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte(head+"\n"), 0o600))
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// parseStatus reads what git status and git diff --numstat printed. Both name paths from the top of the
// repository.
func parseStatus(list, counts, prefix string) []Change {
	stats := map[string][2]int{}
	for line := range strings.SplitSeq(counts, "\x00") {
		if fields := strings.SplitN(line, "\t", 3); len(fields) == 3 {
			added, _ := strconv.Atoi(fields[0]) // "-" of a binary file
			removed, _ := strconv.Atoi(fields[1])
			stats[fields[2]] = [2]int{added, removed}
		}
	}
	var out []Change
	for entry := range strings.SplitSeq(list, "\x00") {
		if len(entry) < 4 || len(out) == MaxChanges {
			continue
		}
		code, name := strings.TrimSpace(entry[:2]), entry[3:]
		if entry[0] == 'U' || entry[1] == 'U' || code == "AA" || code == "DD" {
			code = "U"
		}
		stat := stats[name]
		out = append(out, Change{strings.TrimPrefix(name, prefix), code[:1], stat[0], stat[1]})
	}
	return out
}

// capped is a buffer of at most maxStatusOutput bytes.
type capped struct{ *bytes.Buffer }

func (c *capped) Write(b []byte) (int, error) {
	if c.Len()+len(b) > maxStatusOutput {
		return 0, errTooLong
	}
	return c.Buffer.Write(b)
}
