// Package myagent implements both ends of MyAgent's WebSocket event protocol. It owns the mapping
// between its frames and native events; docs/dialects/myagent.md lists the losses.
//
// A native event without a frame of its own travels as a system.notice: metadata "action" holds its
// type and "data" its data. A server that sends such notices announces the capability "turns", and
// clients rely on it.
//
// The codecs use no goroutine, clock or I/O. Each connection has its own codec. The client end
// keeps its sessions over connections in codec.ClientState; the server end stores the frames of a
// connection in codec.ResumeStore, so that a later connection can resume from any of them. The
// package knows no socket, server or screen.
package myagent
