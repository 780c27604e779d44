// Package describe owns the texts for values of the protocol: actors, queue holds, decisions,
// rules, events, and the summary of what was missed while disconnected. The screen and the plain
// renderer share it. It must not draw.
package describe
