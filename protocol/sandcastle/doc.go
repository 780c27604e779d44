// Package sandcastle implements both ends of Sandcastle's protocol: @effect/rpc over WebSocket, as
// newline-delimited JSON in text frames. It owns the mapping between its messages and native
// events; docs/dialects/sandcastle.md lists the losses.
//
// The codecs use no goroutine, clock or I/O. Each connection has its own codec. The client end
// keeps the server's capabilities and its unanswered sends over connections in codec.ClientState;
// the server end keeps no state over connections. The package knows no socket, server or screen.
package sandcastle
