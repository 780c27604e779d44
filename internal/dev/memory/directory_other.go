//go:build !linux

package memory

// useDirectory does nothing: the system has no directory in memory.
func useDirectory() {}
