// Package client is agentctl as a client of a MyAgent server. It decodes the server's frames into
// native events, carries out native commands, acknowledges frames, and opens a session again on the
// next connection. It keeps sessions over connections in codec.ClientState, and does not know the
// server package.
package client
