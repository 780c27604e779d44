// Command access writes docs/access.md: who may send which command and use which HTTP route. It
// reads the tables of packages protocol and server, and knows no session.
package main

//go:generate go run . ../../../docs/access.md
