//go:build !unix

package main

import (
	"errors"

	"agentctl/internal/localserver"
)

// checkLimits checks nothing: no server runs on this system.
func checkLimits(localserver.Dir) []check { return nil }

// openFileLimit returns an error: no server runs on this system.
func openFileLimit() (uint64, error) { return 0, errors.ErrUnsupported }
