// Package usage owns the numbers of a session that its state does not keep: how full the context was turn by turn, how fast
// the agent writes, what the last compaction did; and the bars that show such numbers.
//
// It knows events and nothing of screens, sockets or clocks: what time it is, it is told. Nothing in it is safe for
// concurrent use.
package usage
