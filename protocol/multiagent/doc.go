// Package multiagent speaks with clients and servers of Multi-Agent-Intelligence: JSON messages with a type, conversations whose
// answers stream as chunks, and tools that want approval. Server is the codec at our server's end, Client the one at our client's
// end.
//
// The package owns the words of that protocol and how they map to ours; it knows neither sockets nor clocks, and of credentials
// only the role that a client has. docs/dialects/multiagent.md says what is carried, what is approximated and what cannot be said.
package multiagent
