// Package agentloop speaks the protocol of the AgentLoop server and its clients: JSON messages {id, type, payload} in which an
// agent streams whole items of a conversation and asks, one at a time, whether it may run a command.
//
// It owns what those messages mean natively, at both ends: a Server is the codec of one of their clients at our server, a Client
// the codec of our client at one of their servers. It must not know sockets, clocks or who hosts it. The table of what is
// carried and what is lost is docs/dialects/agentloop.md.
package agentloop
