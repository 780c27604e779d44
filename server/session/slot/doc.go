// Package slot holds the agent of a session: which one is open, what it can do, its preparation
// before the first turn, and whether a process of it is left. An agent starts after the previous
// one has exited.
//
// It must not know turns, sessions, or how agents are opened and stored.
package slot
