package worktree

import (
	"context"
	"errors"
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

// Status returns the files below a directory that differ from the last commit, at most MaxChanges. ok is
// false if the directory is in no repository. It runs git as a reader does.
func Status(ctx context.Context, dir string) (changes []Change, ok bool, err error) {
	r, err := newReader(ctx, dir)
	if r == nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	prefix, err := git(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, false, err
	}
	list, counts := &capped{max: maxStatusOutput}, &capped{max: maxStatusOutput}
	err = r.run(ctx, list, "status", "--porcelain=v1", "-z", "--no-renames",
		"--ignore-submodules=all", "--untracked-files=normal", "--", ".")
	if err != nil {
		return nil, false, err
	}
	if r.head != "" {
		if err = r.diff(ctx, counts, ".", "--numstat", "-z"); err != nil {
			return nil, false, err
		}
	}
	return parseStatus(string(list.bytes), string(counts.bytes), prefix), true, nil
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
