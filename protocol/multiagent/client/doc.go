// Package client is agentctl as a client of a Multi-Agent-Intelligence server. It decodes the
// server's messages into native events, carries out native commands, and keeps what the protocol
// cannot replay over a lost connection, in codec.ClientState: sessions, queues and saved answers.
// Of credentials it knows only the client's role. It does not know the server package.
package client
