// Package list is the list of a server's sessions, in memory or not: their summaries, names,
// conversations of agents, and watchers. It loads each session at most once at a time.
//
// It must not know what a session is, or how one is loaded.
package list
