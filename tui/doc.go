// Package tui owns the screen: the Bubble Tea program that shows one session
// and lets a person steer it, and the same session as plain lines.
//
// It declares the Session it shows; a client of a server and a recording
// satisfy it. It must not know servers, sockets or how a connection is kept.
//
// There is one model. Its parts (composer, queue, approvals, …) have methods
// and render themselves at a width, but no Update and no goroutine of their
// own. The model does no I/O: commands run as errands, updates come from the
// pump.
package tui
