// Package client is agentctl as a client of a Multi-Agent-Intelligence server. It decodes the
// server's messages into native events, carries out native commands, and keeps what the protocol
// cannot replay over a lost connection, in codec.ClientState: sessions, queues and saved answers.
// Of credentials it knows only the client's role. It does not know the server package.
//
// A Conn is one connection. A session outlives it and is made of parts that know neither of the two:
// the requests in flight, the turns, the outbox of user messages, the approvals and the queue. turns
// and queue return the events to record; what is sent and answered goes through the exchange of the
// connection in use.
package client
