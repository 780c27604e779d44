// Package myagent is the dialect of MyAgent's WebSocket event protocol. It declares the name, the
// options and what the protocol lacks, and joins the two ends: package client, agentctl at a foreign
// server, and package server, agentctl's server for foreign clients. Their frames are in package
// wire. docs/dialects/myagent.md lists the losses.
//
// A native event without its own frame travels as a system.notice: metadata "action" holds its type
// and "data" its data. A server that sends such notices announces the capability "turns", and
// clients rely on it.
//
// The packages use no goroutine, clock or I/O, and know no socket, server or screen. Each connection
// has its own codec.
package myagent
