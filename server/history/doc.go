// Package history reads the past of sessions from the store: pages of finished turns, their
// messages, blobs, and search over everything recorded. It loads no session: committed events are
// enough.
//
// It owns the cursors, bounds and concurrency limits of these reads. It must not know sockets,
// HTTP, or the live state of a session.
package history
