//go:build !linux && !windows && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package output

import "os"

// discardInput does nothing: how to discard the input of a terminal is not known on this system.
func discardInput(*os.File) error { return nil }
