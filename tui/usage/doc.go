// Package usage computes the output rate of an agent, and draws the bars of context usage.
//
// It knows events, but no screen, socket or clock: callers pass the time. Its types are not safe for
// concurrent use.
package usage
