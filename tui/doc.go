// Package tui runs the full-screen program on a terminal. [Run] and [RunDashboard] start Bubble
// Tea, open sessions and route messages to the dashboard or to the session on the screen. The
// package owns the resources that a terminal has only once: input, window title, signals and
// suspension.
//
// It accesses sessions and servers only through the interfaces of tui/remote. It must not depend on
// sockets or on connection handling.
//
// # Structure
//
// A message passes a chain of input filters, then goes to the screen with the focus. A filter takes
// a message, changes it or passes it on. Filters and screens return what they ask of the program as
// an intent.
//
// The screens are [agentctl/tui/sessionview] and [agentctl/tui/dashboard]. They are made of
// components. A component has a method Update that returns an intent, and draws itself at a given
// width. It does no I/O. Commands and updates run as tasks of tui/task, which return their results
// as messages addressed to the component.
//
// # Safety
//
// Text from a server reaches the terminal through the canvas of tui/ui, which passes only styles
// and safe links, and through the fields of a view. The exceptions are tui/notify and the
// clipboard, which receive cleaned text.
package tui
