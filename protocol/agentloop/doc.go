// Package agentloop is the dialect of the AgentLoop server and its clients: JSON messages {id, type,
// payload} in which an agent streams items of a conversation and asks, one at a time, for approval
// of a command. It declares the name and what the protocol lacks, and joins the two ends: package
// client, agentctl at a foreign server, and package server, agentctl's server for foreign clients.
// Their messages are in package wire. docs/dialects/agentloop.md lists the losses.
//
// The packages use no goroutine, clock or I/O, and know no socket, server or screen. Each connection
// has its own codec.
package agentloop
