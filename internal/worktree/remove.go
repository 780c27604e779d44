package worktree

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
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

// maxIgnored bounds the names that Ignored returns.
const maxIgnored = 1000

// Ignored returns the files and directories in the worktree that git ignores, without those that
// the set-up made: they are in no commit, and a removal loses them. A name of a directory ends with
// a slash.
func (w *Worktree) Ignored(ctx context.Context) ([]string, error) {
	names, err := w.ignored(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(w.Prepared, name) }), nil
}

// IgnoredText describes names that Ignored returned, "" for none.
func IgnoredText(names []string) string {
	const shown = 5
	if len(names) == 0 {
		return ""
	}
	text := format.Count(len(names), "ignored file") + ": " + strings.Join(names[:min(shown, len(names))], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (w *Worktree) ignored(ctx context.Context) (names []string, err error) {
	list, err := git(ctx, w.Dir, "status", "--porcelain", "-z", "--ignored", "--untracked-files=normal",
		"--ignore-submodules=all")
	for entry := range strings.SplitSeq(list, "\x00") {
		if name, ok := strings.CutPrefix(entry, "!! "); ok && len(names) < maxIgnored {
			names = append(names, name)
		}
	}
	return names, err
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
