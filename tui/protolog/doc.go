// Package protolog implements a protocol log: the newest frames of a connection, parsed into
// messages, with a Filter and a List of messages for the screen.
//
// It must not depend on sockets or on the program of the screen. It interprets only the type, ID,
// sequence number and error of a message, in the same way for all protocols. It records frames
// unchanged and redacts credentials when they are read.
package protolog
