// Package describe owns the words for the values of the protocol: who did it, what a hold, a
// decision, a rule or an event is called, and what was missed while the client was away. It is
// shared by the screen and the plain client. It must not draw.
package describe
