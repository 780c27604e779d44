// Package session runs sessions: the loop that is the only writer of each session, its queue,
// approvals and rules. Package eventlog makes its events durable before they are visible. It
// declares the Store that it needs.
//
// It must not know sockets, HTTP, dialects, or how the past is read (package history).
package session
