// Package ssh reaches the server of another machine through the user's own ssh. The ssh client runs
// "agentctl connect" there, which connects its standard input and output to the server's socket, so
// the other machine needs no open port and no token.
//
// Connections of one user to one machine share a link of the ssh client (ControlMaster) where the
// system has it.
package ssh
