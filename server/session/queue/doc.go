// Package queue handles the queue of a session: queued and scheduled messages, holds, and the
// choice of the next message. The messages and holds are in protocol.State. A Queue keeps only the
// rest: the connections of edit holds and their timeouts.
//
// An operation reads the state and returns the events to record. It must not know turns beyond the
// state, the recording of events, or the transport of commands.
package queue
