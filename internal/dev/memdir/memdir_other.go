//go:build !linux

package memdir

// Use does nothing: the system has no directory in memory.
func Use() {}
