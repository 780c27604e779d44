// Package outline keeps the turns of a session in brief: their messages, tool calls, durations and
// ends, from live events and pages of history. It must not know the screen.
package outline
