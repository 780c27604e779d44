// Package process runs the program of an agent in its own process group. No process of the group
// remains after the death of the program, of a child or of the server.
//
// It owns the pipes of the program and its lifetime. It must not know the protocol on the pipes.
package process
