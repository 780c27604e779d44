// Package location finds places in source files that a text names, such as main.go:12, and the
// arguments with which an editor opens them. It must not know the screen.
package location
