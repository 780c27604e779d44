// Package approval handles the requests of a session: their waiters, their completion, and their
// resolution, once each. Pending requests and rules are in protocol.State. Approvals keeps only the
// rest: the waiting agents, and resolutions that are not durable yet.
//
// Operations read the state and return the events to record. A verdict reaches the agent after its
// commit. The package must not know the recording of events, the queue, turns beyond the state, or
// the content of policies.
package approval
