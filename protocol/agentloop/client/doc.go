// Package client is agentctl as a client of an AgentLoop server. It decodes the server's messages
// and items into native events, carries out native commands, and infers from later messages what the
// server has accepted. It keeps the session's log, its ids and decisions, and the keys of sent
// messages over connections in codec.ClientState, and does not know the server package.
package client
