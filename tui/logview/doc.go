// Package logview implements the screen of the protocol log: the list of messages, the selected
// message, filters, pause and export. It reads the log and must not change it.
package logview
