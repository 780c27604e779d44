// Package sandbox confines the processes of agents: what they may read and write, which sockets and
// processes exist for them, and whether they reach the network.
//
// It owns the table of paths, the same for processes and for tools that run in the server, and the
// program that enforces it: bubblewrap on Linux, sandbox-exec on macOS. It must not know sessions,
// and not the protocols of agents.
package sandbox
