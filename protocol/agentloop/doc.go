// Package agentloop implements the protocol of the AgentLoop server and its clients: JSON messages
// {id, type, payload} in which an agent streams items of a conversation and asks, one at a time,
// for approval of a command.
//
// It has a codec for each end: server for a foreign client of agentctl's server, client for
// agentctl's client at a foreign server. The client codec keeps state over connections in
// codec.ClientState: the session's log, its ids and decisions, and the keys of sent messages. The
// package must not know sockets, clocks or its host. docs/dialects/agentloop.md lists what the
// protocol carries and loses.
package agentloop
