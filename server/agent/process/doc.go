// Package process runs an agent's program in a process group of its own and makes sure that nothing of the group is
// left when it ends, whoever dies first: the program, a child of it, or this server.
//
// It owns the child's pipes and its life. It must not know what is said over the pipes.
package process
