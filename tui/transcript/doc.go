// Package transcript lays out a conversation as lines of text. It owns the virtual list that
// renders only visible items, the cache of wrapped lines, the layout of growing text, markdown and
// program output, and the sanitizing of untrusted text. Styles are marks within a line until
// RenderStyles renders them.
//
// It must not know Bubble Tea, sessions or the protocol. It starts no goroutine. Nothing in it is
// safe for concurrent use.
package transcript
