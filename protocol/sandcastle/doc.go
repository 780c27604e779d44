// Package sandcastle speaks with clients and servers of Sandcastle: @effect/rpc over WebSocket, newline-delimited JSON in text
// frames. Server is the codec at our server's end, Client the one at our client's end.
//
// The package owns the words of that protocol and how they map to ours; it knows neither sockets nor clocks.
// docs/dialects/sandcastle.md says what is carried, what is approximated and what cannot be said.
package sandcastle
