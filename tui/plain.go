package tui

import (
	"context"
	"io"
)

// Plain is written below.
func Plain(ctx context.Context, s Session, w io.Writer, r io.Reader) error { return nil }
