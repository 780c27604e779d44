// Package multiagent is the dialect of Multi-Agent-Intelligence: JSON messages with a type,
// conversations with streamed answers, and tools that need approval. It declares the name, the
// options and what the protocol lacks, and joins the two ends: package client, agentctl at a foreign
// server, and package server, agentctl's server for foreign clients. Their messages are in package
// wire. docs/dialects/multiagent.md lists the losses.
//
// The packages use no goroutine, clock or I/O, and know no socket, server or screen. Each connection
// has its own codec.
package multiagent
