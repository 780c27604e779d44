// Package approval is the requests of a session: who waits for them, how they are completed, and how
// they are resolved, once each. Pending requests and rules are in protocol.State. Approvals keeps
// only what is not: the agents that wait, and resolutions that are not durable yet.
//
// Operations read the state and return what to record. A verdict reaches the agent after its commit.
// The package must not know how events are recorded, the queue, turns beyond the state, or what
// policies consist of.
package approval
