// Package multiagent implements both ends of the Multi-Agent-Intelligence protocol: JSON messages
// with a type, conversations with streamed answers, and tools that need approval. It owns the
// mapping between these messages and native events; docs/dialects/multiagent.md lists the losses.
//
// The codecs use no goroutine, clock or I/O. Each connection has its own codec. The client end
// keeps sessions, queues and saved answers over connections in codec.ClientState, because the
// protocol cannot replay a conversation. The server end keeps no state over connections. The
// package knows no socket, server or screen; of credentials it knows only the client's role.
package multiagent
