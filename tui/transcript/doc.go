// Package transcript owns what a conversation looks like as lines: a virtual
// list that draws only what is on the screen, the cache of wrapped lines, text,
// markdown and a program's output that are still growing, and the cleaning of
// untrusted text. Styles are marks within a line until it is dressed.
//
// It must not know Bubble Tea, sessions or the protocol. Nothing here starts a
// goroutine, and nothing is safe for concurrent use: the program that shows the
// transcript owns it.
package transcript
