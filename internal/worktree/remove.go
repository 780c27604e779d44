package worktree

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"agentctl/internal/format"
)

// Left describes the work in the worktree that a removal would lose or leave unmerged: changed and
// new files, and commits that the base lacks; "": none.
func (w *Worktree) Left(ctx context.Context) (string, error) {
	changed, err := git(ctx, w.Dir, "status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none")
	if err != nil {
		return "", err
	}
	var left []string
	if changed != "" {
		left = append(left, format.Count(strings.Count(changed, "\n")+1, "changed file"))
	}
	commits, err := w.unmerged(ctx, w.Dir, "HEAD")
	if err != nil {
		return "", err
	}
	if commits > 0 {
		left = append(left, format.Count(commits, "commit")+" that "+w.baseName()+" does not have")
	}
	return strings.Join(left, " and "), nil
}

// unmerged returns the number of commits of a revision in dir, since the worktree's start, that its
// base lacks.
func (w *Worktree) unmerged(ctx context.Context, dir, revision string) (int, error) {
	args := []string{"rev-list", "--count", revision, "^" + w.Start}
	if base, err := commit(ctx, w.Repository, cmp.Or(w.Base, "HEAD")); err == nil { // else the base was removed
		args = append(args, "^"+base)
	}
	out, err := git(ctx, dir, args...)
	if err != nil {
		return 0, err
	}
	n := 0
	if _, err := fmt.Sscan(out, &n); err != nil {
		return 0, fmt.Errorf("git rev-list: %w", err)
	}
	return n, nil
}

func (w *Worktree) baseName() string {
	return cmp.Or(strings.TrimPrefix(w.Base, "refs/heads/"), "the repository's branch")
}

// Remove removes the worktree, and its branch if the two were made together and the branch has no
// new commits. Without force git refuses changed and new files.
func (w *Worktree) Remove(ctx context.Context, force bool) error {
	commits, err := w.unmerged(ctx, w.Dir, "HEAD")
	if err != nil {
		return err
	}
	head, err := commit(ctx, w.Dir, "HEAD")
	if err != nil {
		return err
	}
	args := []string{"worktree", "remove"}
	if force {
		args = append(args, "--force")
	}
	if _, err := git(ctx, w.Repository, append(args, "--", w.Dir)...); err != nil {
		return err
	}
	if !w.Made || commits > 0 {
		return nil
	}
	// The old value keeps a branch that has moved since, or that the worktree had left.
	return w.removeBranch(ctx, head)
}

// Undo removes a worktree whose session was not created, with its branch if it was made with it.
// The end of ctx does not stop it.
func (w *Worktree) Undo(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if _, err := git(ctx, w.Repository, "worktree", "remove", "--force", "--", w.Dir); err != nil {
		return err
	}
	if err := os.RemoveAll(w.Dir); err != nil { // ignored files that git may leave
		return fmt.Errorf("remove worktree: %w", err)
	}
	if !w.Made {
		return nil
	}
	_, err := git(ctx, w.Repository, "update-ref", "-d", "refs/heads/"+w.Branch, w.Start)
	return err
}
