// Package record has the events that parts of a session hand to it to be recorded: without a
// position, compact, valid UTF-8, and small enough for the log.
//
// It must not know the log, or which part makes which event.
package record
