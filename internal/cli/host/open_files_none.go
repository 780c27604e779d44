//go:build !unix

package host

import "errors"

// OpenFileLimit returns an error: no server runs on this system.
func OpenFileLimit() (uint64, error) { return 0, errors.ErrUnsupported }
