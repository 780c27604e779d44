package main

import (
	"context"

	"agentctl/internal/worktree"
)

// removeWorktree removes the git worktree at a directory, if agentctl made it and nothing would be
// lost. It returns why the worktree stays, or "".
func removeWorktree(ctx context.Context, dir string) (kept string) {
	w := worktree.Find(ctx, dir)
	if w == nil {
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
