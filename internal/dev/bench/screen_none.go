//go:build !unix

package main

import (
	"context"
	"errors"
	"time"
)

const hasTerminals = false

// runOnTerminal returns an error: the system has no pseudo-terminals.
func runOnTerminal(context.Context, []string, string, []string) (first, all, processor time.Duration, err error) {
	return 0, 0, 0, errors.ErrUnsupported
}
