// Package panics converts panics to errors with a stack trace. It is for goroutines of a process
// that controls a terminal: an uncaught panic would end the process and leave the terminal
// unusable. The owner of such an error stops the failed work and reports it once the terminal is
// restored.
//
// Servers do not use it: their state may be inconsistent after a panic, so they exit and recover
// from the store. The package must not depend on the code it guards.
package panics
