// Package acp owns agentctl's end for programs that steer sessions with the Agent Client Protocol,
// such as editors: to them agentctl is the agent. A Conn is a codec for one connection, in version 1
// or 2 of the protocol.
//
// It must not know its transport: the server hosts a Conn at a WebSocket, the verb acp hosts one at
// stdin and stdout with a client of a server.
package acp
