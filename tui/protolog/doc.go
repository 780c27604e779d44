// Package protolog holds a protocol log: the newest frames of a connection, parsed into messages,
// with a Filter and a List of messages for the screen.
//
// It must not know sockets or the screen's program. Of a message it knows only type, ID, sequence
// number and error, the same for all protocols. Frames are recorded unchanged; credentials are
// redacted when they are read.
package protolog
