// Package server is agentctl's server for Sandcastle's clients. It answers their requests with native
// commands, and encodes the events of a session for the streams that subscribe to it. It keeps no
// state over connections, and does not know the client package.
//
// A Conn carries out requests. The exchange has the open ones, subscriptions follows sessions, and a
// subscription encodes its events for its streams.
package server
