// Command agentctl is the server, the terminal UI and the verbs for scripts in one program. The
// command line is in package internal/cli; main gives it the process: streams, environment, and what
// the program was built from. The tests here run the whole program.
package main
