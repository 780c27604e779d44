// Package historygen draws histories of sessions, for properties that hold for all of them: whatever a dialect, a fold or a screen
// makes of a session is tried with every type of event there is, in every order that a server may record.
//
// It knows the protocol alone: no dialect, no server.
package historygen
