// Package sandcastle is the dialect of Sandcastle's protocol: @effect/rpc over WebSocket, as
// newline-delimited JSON in text frames. It declares the name, the options and what the protocol
// lacks, and joins the two ends: package client, agentctl at a foreign server, and package server,
// agentctl's server for foreign clients. Their messages are in package wire.
// docs/dialects/sandcastle.md lists the losses.
//
// The packages use no goroutine, clock or I/O, and know no socket, server or screen. Each connection
// has its own codec.
package sandcastle
