// Package server serves sessions to clients: listeners with their access checks, WebSocket
// connections of the native protocol and of dialects, and HTTP. A connection is a cursor into the
// logs of sessions; it writes its small control buffer first, then its subscriptions in turn.
//
// It owns sockets and connections. Package session owns sessions, package history reads their past.
// It must not know clients or screens.
package server
