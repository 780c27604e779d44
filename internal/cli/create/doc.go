// Package create has the verbs that create sessions: new, run and up. It owns the flags of a new
// session, its git worktree, and the file of up.
//
// It uses nothing of the packages of other verbs.
package create
