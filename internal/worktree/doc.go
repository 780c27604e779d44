// Package worktree makes and removes git worktrees for sessions. It runs git as a subprocess,
// without a shell, with arguments that the package chooses.
//
// It owns the names and directories of worktrees, and keeps a record of each worktree that it made
// beside git's data. It removes only these worktrees, and does not discard work unless forced. It
// must not know sessions.
package worktree
