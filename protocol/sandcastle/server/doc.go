// Package server is agentctl's server for Sandcastle's clients. It answers their requests with native
// commands, and encodes the events of a session for the streams that subscribe to it. It keeps no
// state over connections, and does not know the client package.
package server
