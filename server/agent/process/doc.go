// Package process runs the program of an agent in its own process group and ends the whole group
// when the program, one of its children or the server ends.
//
// It owns the pipes of the program and its lifetime. It must not know the protocol on the pipes.
package process
