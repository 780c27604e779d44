// Package tui owns the screen: the Bubble Tea program that shows a session and
// lets a person steer it (Run), a desk of many sessions (Desk), and a session as
// plain lines (Plain).
//
// It declares the Session and the Fleet it shows, and the Retrier that both may
// be (a Session a Withdrawer, too); a client of a server and a recording satisfy them. It must not know servers,
// sockets or how a connection is kept.
//
// There is one model per session. Its parts (composer, queue, approvals, …) have methods
// and render themselves at a width, but no Update and no goroutine of their
// own. The model does no I/O: commands run as errands, updates come from the
// pump.
//
// What reaches the terminal goes through the frame, which lets only dress and
// safe links by, and the fields of a view. There are two exceptions: attention,
// which rings and notifies with clean text while the terminal has no focus, and
// the clipboard, which gets clean text, encoded, when a person copies it.
package tui
