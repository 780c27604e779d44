// Package limit handles the usage limits of a session's agent: what happens to the queue when a limit
// ends a turn, and when and how often the session continues without a user. The hold, its time and
// the messages are in protocol.State, the user's choice in the session's spec.
//
// An operation reads the state and returns the events to record. It must not know turns beyond the
// state, the recording of events, or who may do what.
package limit
