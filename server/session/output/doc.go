// Package output takes the output of a session's agent: it makes events fit for the log, queues them
// for the session, and keeps the last line of text.
//
// It must not know sessions, turns, or how events are recorded.
package output
