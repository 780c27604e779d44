// Package client is agentctl as a client of a Sandcastle server. It follows sessions by their
// streams, decodes session and chat events into native events, reads finished turns, and carries out
// native commands. It keeps the server's capabilities and its unanswered sends over connections in
// codec.ClientState, and does not know the server package.
//
// A Conn is one connection: it routes commands and stream values to sessions. The exchange has the
// requests in flight. A session records what its stream reports; its current turn decodes chat events
// into the events to record.
package client
