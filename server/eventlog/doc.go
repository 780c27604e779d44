// Package eventlog owns the log of a session: the content of a commit, the Store that it is written
// to, the events in memory and the cache of older ones, and the order in which events become
// durable, then visible.
//
// A Journal appends events at head and commits them, one batch at a time, through the Committer,
// the only writer of the store. A commit moves the visible end of the Log. Readers, each with its own
// position, see nothing beyond it.
//
// It must not know the meaning of events, the decisions of a session, agents, or readers.
package eventlog
