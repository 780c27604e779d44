// Command agentctl is the server, the terminal UI and the verbs for scripts in one program. It owns
// the command line: one file per verb with its flags and output, the connection of a verb to its
// server, and the adapters between the client and the terminal UI. Other code that verbs share is
// in packages under internal. The command is the only package that imports all others, and it only
// connects them: the server decides what a command does, the protocol what an event means.
package main
