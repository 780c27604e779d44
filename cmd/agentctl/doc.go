// Command agentctl is the whole program: the server, the screen and the verbs for scripts. It owns the command line: one file per
// verb, what its flags mean, what goes to stdout and stderr, exit codes, the data directory of the local server and how that
// server is started in the background. It is the only package that sees all others, and it only wires them: what a command
// does to a session is the server's business, what an event means the protocol's.
package main
