// Package list is the list of a server's sessions, in memory or not: their summaries, names,
// conversations of agents, and watchers. It loads each session at most once at a time.
//
// It must not know the type of sessions, or how one is loaded.
package list
