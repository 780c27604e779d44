// Package split divides a screen among up to four sessions. A [Layout] is a tree of splits; Arrange
// computes the rectangles of its sessions for a size of the screen. All functions are pure. The
// package must not know what a session is: it has names only.
package split
