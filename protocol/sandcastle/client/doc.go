// Package client is agentctl as a client of a Sandcastle server. It follows sessions by their
// streams, decodes session and chat events into native events, reads finished turns, and carries out
// native commands. It keeps the server's capabilities and its unanswered sends over connections in
// codec.ClientState, and does not know the server package.
package client
