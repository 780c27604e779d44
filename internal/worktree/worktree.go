package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Label is the label of a session in its own git worktree: the branch.
const Label = "worktree"

// recordFile is the file in git's directory of a worktree that marks the worktrees of this package.
// git removes it with the worktree.
const recordFile = "agentctl.json"

// A Worktree is a git worktree that this package made.
type Worktree struct {
	Dir        string
	Repository string // the main worktree
	Reused     bool   // Create found the worktree of an earlier request with its key
	record
}

// record is the content of recordFile.
type record struct {
	Branch string `json:"branch"`
	Made   bool   `json:"made"`           // the branch was made with the worktree
	Start  string `json:"start"`          // commit of the branch at the start
	Base   string `json:"base,omitempty"` // branch that it started from; "": a commit
	Key    string `json:"key,omitempty"`  // of the request that made it
	Ready  bool   `json:"ready"`          // the set-up command completed

	Prepared []string `json:"prepared,omitempty"` // files that git ignores and that the set-up made
}

// A Request describes a worktree to make.
type Request struct {
	Dir    string // in the repository
	Branch string
	Base   string // a branch or a commit; "": the HEAD of Dir
	Path   string // template of the directory; "": DefaultPath
	Key    string // a request with the same key gets the same worktree; "": none does
}

// Create makes a worktree. An existing branch is checked out; a new one starts at the base.
func Create(ctx context.Context, r Request) (*Worktree, error) {
	repository, err := mainWorktree(ctx, r.Dir)
	if err != nil {
		return nil, err
	}
	if err := checkBranch(ctx, repository, r.Branch); err != nil {
		return nil, err
	}
	if r.Path == "" {
		r.Path = DefaultPath
	}
	dir, err := expandPath(r.Path, repository, r.Branch)
	if err != nil {
		return nil, err
	}
	if w := Find(ctx, dir); w != nil && r.Key != "" && w.Key == r.Key && w.Branch == r.Branch {
		w.Reused = true
		return w, nil
	}
	if _, err := os.Lstat(dir); err == nil {
		return nil, fmt.Errorf("%s exists: name another branch, or work there with --cwd", dir)
	}
	w := &Worktree{Dir: dir, Repository: repository, record: record{Branch: r.Branch, Key: r.Key}}
	if err := w.add(ctx, r); err != nil {
		return nil, err
	}
	return w, nil
}

// add makes the directory, the branch and the record. After an error none of them is left.
func (w *Worktree) add(ctx context.Context, r Request) error {
	ref := "refs/heads/" + w.Branch
	start, err := commit(ctx, w.Repository, ref)
	w.Made = err != nil
	args := []string{"worktree", "add", "--quiet"}
	if w.Made {
		base := r.Base
		if base == "" {
			base = "HEAD"
		}
		if start, err = commit(ctx, r.Dir, base); err != nil {
			return fmt.Errorf("no commit %q to start from", base)
		}
		w.Base = refOf(ctx, r.Dir, base)
		args = append(args, "--no-track", "-b", w.Branch, w.Dir, start)
	} else {
		if r.Base != "" {
			return fmt.Errorf("the branch %s exists: --base is for a new one", w.Branch)
		}
		args = append(args, w.Dir, w.Branch)
	}
	w.Start = start
	if _, err := git(ctx, w.Repository, args...); err != nil {
		if _, exists := commit(ctx, w.Repository, ref); w.Made && exists == nil {
			_, _ = git(context.WithoutCancel(ctx), w.Repository, "branch", "-D", "--", w.Branch)
		}
		return err
	}
	if err := w.save(ctx); err != nil {
		return errors.Join(err, w.Undo(ctx))
	}
	return nil
}

func (w *Worktree) save(ctx context.Context) error {
	dir, err := git(ctx, w.Dir, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return err
	}
	b, err := json.Marshal(w.record)
	if err != nil {
		return fmt.Errorf("worktree record: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, recordFile), b, 0o600); err != nil {
		return fmt.Errorf("worktree record: %w", err)
	}
	return nil
}

// Find returns the worktree at a directory, or nil if this package made none there.
func Find(ctx context.Context, dir string) *Worktree {
	paths, err := git(ctx, dir, "rev-parse", "--absolute-git-dir", "--show-toplevel")
	if err != nil {
		return nil
	}
	gitDir, top, _ := strings.Cut(paths, "\n")
	b, err := os.ReadFile(filepath.Join(gitDir, recordFile))
	if err != nil || !sameFile(top, dir) {
		return nil
	}
	w := &Worktree{Dir: dir}
	if json.Unmarshal(b, &w.record) != nil {
		return nil
	}
	if w.Repository, err = mainWorktree(ctx, dir); err != nil || sameFile(w.Repository, dir) {
		return nil
	}
	return w
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// mainWorktree returns the directory of the repository that a directory is in: the first worktree
// that git lists.
func mainWorktree(ctx context.Context, dir string) (string, error) {
	list, err := git(ctx, dir, "worktree", "list", "--porcelain")
	if err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	first, _, _ := strings.Cut(list, "\n")
	top, ok := strings.CutPrefix(first, "worktree ")
	if !ok {
		return "", fmt.Errorf("%s: git lists no worktree", dir)
	}
	return filepath.FromSlash(top), nil
}

// checkBranch returns an error if a name is not a valid branch name.
func checkBranch(ctx context.Context, dir, name string) error {
	if strings.HasPrefix(name, "-") {
		return fmt.Errorf("invalid branch %q: it begins with a hyphen", name)
	}
	if _, err := git(ctx, dir, "check-ref-format", "refs/heads/"+name); err != nil {
		return fmt.Errorf("invalid branch %q: see git help check-ref-format", name)
	}
	return nil
}

// commit returns the commit that a name stands for.
func commit(ctx context.Context, dir, name string) (string, error) {
	return git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
}

// refOf returns the full name of the branch or tag that a name stands for, or "".
func refOf(ctx context.Context, dir, name string) string {
	ref, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--symbolic-full-name", "--end-of-options", name)
	if err != nil || !strings.HasPrefix(ref, "refs/") {
		return ""
	}
	return ref
}

// Branches returns the branches of the repository that a directory is in.
func Branches(ctx context.Context, dir string) []string {
	list, err := git(ctx, dir, "for-each-ref", "--format=%(refname:short)", "refs/heads")
	if err != nil || list == "" {
		return nil
	}
	return strings.Split(list, "\n")
}
