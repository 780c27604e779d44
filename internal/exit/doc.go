// Package exit owns the end of a command: the exit codes, the error that carries one, and the hints
// for errors. It must not know any verb and writes nothing.
package exit
