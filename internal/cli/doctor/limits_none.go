//go:build !unix

package doctor

import "agentctl/internal/localserver"

// checkLimits checks nothing: no server runs on this system.
func checkLimits(localserver.Dir) []check { return nil }
