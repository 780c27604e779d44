// Package tui owns the program on the terminal. [Run] starts Bubble Tea, opens sessions, routes
// messages to the dashboard or to the session shown, and owns what a terminal has once: input,
// window title, signals and suspension.
//
// It reaches sessions and servers through the interfaces of tui/remote alone. It must not know of
// sockets or of how a connection is kept.
//
// # Structure
//
// The screens are [agentctl/tui/sessionview] and [agentctl/tui/dashboard]. They are made of
// components: each has a method Update that returns its intent, and draws itself at a width.
// A component does no I/O: commands and updates run as tasks of tui/task, whose results come back
// as messages with the address of the component.
//
// # Safety
//
// Text from a server reaches the terminal only through the canvas of tui/ui, which passes styles
// and safe links and nothing else, and through the fields of a view. The exceptions are tui/notify
// and the clipboard: both get cleaned text.
package tui
