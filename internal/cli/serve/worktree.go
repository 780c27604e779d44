package serve

import (
	"context"

	"agentctl/internal/worktree"
)

// removeWorktree removes the git worktree at a directory, if agentctl made it and nothing would be
// lost, or git's entry of one whose directory was deleted. It returns why the worktree stays, or
// "".
func removeWorktree(ctx context.Context, dir string) (kept string) {
	w := worktree.Find(ctx, dir)
	if w == nil {
		if err := worktree.Prune(ctx, dir); err != nil {
			return err.Error()
		}
		return ""
	}
	left, err := w.Left(ctx)
	if err == nil && left == "" {
		err = w.Remove(ctx, false)
	}
	if err != nil {
		return err.Error()
	}
	return left
}
