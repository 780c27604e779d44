// Package decision connects the approval panel with a session: it shows the pending requests of the
// replica, sends decisions, and reports those of others. What a request looks like and how it is
// decided is the approval package's.
package decision
