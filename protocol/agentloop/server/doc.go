// Package server is agentctl's server for AgentLoop's clients. It encodes the events of the session
// that a URL names, shows one approval request at a time, and translates the client's messages into
// native commands. It keeps no state over connections, and does not know the client package.
package server
