// Package server opens sessions to clients: listeners and who may come in through them, WebSocket connections of the native
// protocol, and HTTP beside them. A connection is a cursor into sessions' logs; it writes its small control buffer first,
// then its subscriptions in turn.
//
// It owns sockets and connections. What a session is and does is server/session's; it must not know clients or screens.
package server
