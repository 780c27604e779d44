//go:build !linux && !darwin

package sqlite

// bootID returns "": the boot is unknown, so only a clean close is trusted.
func bootID() (string, error) { return "", nil }
