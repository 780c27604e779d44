// Package server is agentctl's server for clients of the Multi-Agent-Intelligence protocol. It
// encodes the events of the sessions that a client names, and translates the client's messages into
// native commands. It keeps no state over connections, and does not know the client package.
//
// A Conn carries out the client's messages. The exchange sends native commands, conversations
// subscribes to sessions, and a conversation encodes its events into the frames to send.
package server
