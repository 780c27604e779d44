// Package session owns the life of sessions: the loop that is each session's only writer, its log, queue, approvals and
// rules, and the committer that makes events durable before anyone sees them. It declares what it needs of a Store and of
// an Agent. It knows nothing of sockets, HTTP or any dialect.
package session
