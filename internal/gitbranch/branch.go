package gitbranch

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxGitFile is the maximum size of a git file that is read, in bytes.
const maxGitFile = 4 << 10

// Of returns the branch of the git repository that a directory is in, the start of the commit of a
// detached HEAD, or "" if there is neither.
func Of(dir string) string {
	git := find(dir)
	if git == "" {
		return ""
	}
	return headBranch(git)
}

// operations are the files of operations that are not complete.
var operations = []struct{ file, name string }{
	{"rebase-merge", "rebase"},
	{"rebase-apply", "rebase"},
	{"MERGE_HEAD", "merge"},
	{"CHERRY_PICK_HEAD", "cherry-pick"},
	{"REVERT_HEAD", "revert"},
	{"BISECT_LOG", "bisect"},
}

// Operation returns the operation that the git repository of a directory is in the middle of, such as a merge,
// or "".
func Operation(dir string) string {
	git := find(dir)
	for _, o := range operations {
		if git == "" {
			break
		}
		if _, err := os.Lstat(filepath.Join(git, o.file)); err == nil {
			return o.name
		}
	}
	return ""
}

// find returns the directory of the data of the repository that a directory is in, or "".
func find(dir string) string {
	for {
		git := filepath.Join(dir, ".git")
		if info, err := os.Stat(git); err == nil {
			return gitDir(git, info)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// gitDir returns the directory of a repository's data. The .git of a worktree or a submodule is a
// file that names it.
func gitDir(git string, info os.FileInfo) string {
	if info.IsDir() {
		return git
	}
	dir, _ := strings.CutPrefix(readGitFile(git), "gitdir: ")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(git), dir)
	}
	return dir
}

// headBranch returns the branch or the short commit in the HEAD of a git directory, or "".
func headBranch(dir string) string {
	head := readGitFile(filepath.Join(dir, "HEAD"))
	if branch, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
		return branch
	}
	if len(head) >= 40 && strings.Trim(head, "0123456789abcdef") == "" {
		return head[:7]
	}
	return ""
}

// readGitFile returns the content of a small regular file without the line end, or "". Opening
// another kind of file might block.
func readGitFile(name string) string {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxGitFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
