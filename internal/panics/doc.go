// Package panics turns a panic into an error that keeps its trace. It is for the goroutines of a client whose process has a terminal in
// its hands: a panic that nobody catches would end the process and leave the terminal as no shell can use it. Who gets the error
// gives up what the goroutine worked on, and the person is told of it once the terminal is as it was.
//
// It is not for servers, whose state may be half changed: they end, and start anew from what is stored. It must not know what
// it guards.
package panics
