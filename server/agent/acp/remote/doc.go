// Package remote connects to agents on other machines over the transports of the Agent Client
// Protocol: a WebSocket, or HTTP with server-sent events. It owns the requests of a connection, and
// shows them as a stream of lines. It must not know what the lines mean beyond what the transports
// need: the initialize request, and ids of sessions.
package remote
