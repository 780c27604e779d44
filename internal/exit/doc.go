// Package exit owns how a command ends: the exit codes, the error that carries one, and the hints
// that say what to do about an error. It must not know any verb and writes nothing.
package exit
