// Package historygen generates histories of sessions for property tests of codecs, reducers and
// screens: every type of event, in every order that a server may record.
//
// It knows the protocol and the codecs' log entries, but no dialect, server or screen.
package historygen

//go:generate go test -run TestFoldFilesAreWhatTheReducerMakes -update .
