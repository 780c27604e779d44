// Package usage computes numbers that a session's state does not hold: the context usage of each
// turn, the agent's output rate and the last compaction. It also draws the bars that show them.
//
// It knows events, but no screen, socket or clock: callers pass the time. Its types are not safe
// for concurrent use.
package usage
