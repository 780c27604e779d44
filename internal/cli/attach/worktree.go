package attach

import (
	"context"
	"crypto/rand"
	"io"
	"strings"
	"sync"

	"agentctl/internal/config"
	"agentctl/internal/worktree"
	"agentctl/tui"
)

// makeWorktrees returns a function that makes a git worktree on a new branch for a session of an agent,
// one at a time, as the user's configuration says.
func makeWorktrees(c *config.Worktrees) func(ctx context.Context, dir, agent string) (tui.Worktree, error) {
	var mu sync.Mutex
	return func(ctx context.Context, dir, agent string) (tui.Worktree, error) {
		mu.Lock()
		defer mu.Unlock()
		branch := "agentctl/" + agent + "-" + strings.ToLower(rand.Text()[:6])
		w, err := worktree.Create(ctx, worktree.Request{Dir: dir, Branch: branch, Path: c.Path})
		if err != nil {
			return tui.Worktree{}, err //nolint:wrapcheck // it names the worktree
		}
		undo := func() error { return w.Undo(context.WithoutCancel(ctx)) }
		if err := w.Setup(ctx, c.Setup, io.Discard); err != nil {
			_ = undo()                 // the reason is the failed command
			return tui.Worktree{}, err //nolint:wrapcheck // it names the command
		}
		return tui.Worktree{Dir: w.Dir, Labels: map[string]string{worktree.Label: branch}, Undo: undo}, nil
	}
}
