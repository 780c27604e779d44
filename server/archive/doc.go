// Package archive carries the past of a session elsewhere: into a signed state, a new session or a
// message to an agent. Data from outside is checked, and made fit for the log, before a session is
// made from it.
//
// It must not know how sessions run, or how a new one is created and recorded.
package archive
