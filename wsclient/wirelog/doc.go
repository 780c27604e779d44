// Package wirelog writes the messages of a connection to a file, one JSON line each, without
// credentials. It owns the format, the checks of the file, its size limit, and the goroutine that
// writes. It must not know the screen, or interpret messages.
package wirelog
