// Package queue is the queue of a session: queued and scheduled messages, holds, and which message
// is next. The messages and holds are in protocol.State. A Queue keeps only what is not: the
// connections behind edit holds and their timeouts.
//
// An operation reads the state and returns the events to record. It must not know turns beyond the
// state, how events are recorded, or who sends commands how.
package queue
