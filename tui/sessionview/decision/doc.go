// Package decision connects the approval panel with a session: it shows the pending requests of the
// replica, sends the user's decisions and reports the decisions of others. Package approval draws a
// request and turns keys into a decision.
package decision
