// Package server is agentctl's server for clients of the Multi-Agent-Intelligence protocol. It
// encodes the events of the sessions that a client names, and translates the client's messages into
// native commands. It keeps no state over connections, and does not know the client package.
package server
