// Package transcript owns what a conversation looks like as lines: a virtual
// list that draws only what is on the screen, the cache of wrapped lines, text
// and markdown that are still growing, and the cleaning of untrusted text.
//
// It must not know Bubble Tea, sessions or the protocol. Nothing here starts a
// goroutine, and nothing is safe for concurrent use: the program that shows the
// transcript owns it.
package transcript
