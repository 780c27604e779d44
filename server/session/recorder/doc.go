// Package recorder records the events of a session: it appends them to the log, applies them to the
// state, and keeps the state at the end of the last turn and the session's row in the list.
//
// It must not know agents, clients, or why an event happens.
package recorder
