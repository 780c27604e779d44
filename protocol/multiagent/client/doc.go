// Package client is agentctl as a client of a Multi-Agent-Intelligence server. It decodes the
// server's messages into native events, carries out native commands, and keeps the state that the
// protocol cannot replay after a lost connection in codec.ClientState: sessions, queues and saved
// answers. It knows only the role of the client's credential. It does not know the server package.
//
// A Conn is one connection. A session outlives it. Its parts know neither: the requests in flight,
// the turns, the outbox of user messages, the approvals and the queue. turns and queue return the
// events to record; messages and answers go through the exchange of the current connection.
package client
