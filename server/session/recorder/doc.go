// Package recorder writes what happens in a session: it appends events to the log and to the state
// that they lead to, keeps the state at the end of the last turn, and the session's row in the list.
//
// It must not know agents, clients, or why an event happens.
package recorder
