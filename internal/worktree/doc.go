// Package worktree makes and removes git worktrees for sessions. It runs git as a subprocess, with
// arguments of its own and without a shell.
//
// It owns the names and directories of worktrees, and a record beside git's data of each worktree
// that it made. It removes no other, and none with work that would be lost unless it is told to. It
// must not know sessions.
package worktree
