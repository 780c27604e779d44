// Package protocol is the native protocol of agentctl: events, commands, answers, snapshots, error
// codes and positions, their encoding, and two reducers over events: State (the session's status,
// queue and approvals) and Transcript (its messages and tool calls). Server, client and tests share
// it.
//
// Two tables define the protocol: Commands and EventTypes. Tests hold every package that carries
// commands or events to them.
//
// The package has no I/O, goroutine or clock and imports the standard library only. It must not
// know servers, sockets or screens.
package protocol
