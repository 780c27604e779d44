package dialect

import (
	"context"
	"time"

	"agentctl/protocol/codec"
)

// An HTTPReader is a client codec that also reads from its server over plain HTTP, for systems that
// keep their history there. Its methods are serialized with the codec's methods.
type HTTPReader interface {
	// Paths returns the paths, with queries, requested since the last call.
	Paths() []string

	// PathRead passes on the body of a path; nil: it could not be read.
	PathRead(now time.Time, path string, body []byte) codec.Output
}

// A ReadFunc reads a path of the connection's server. It sets its own deadline and bounds the body.
type ReadFunc func(ctx context.Context, path string) ([]byte, error)

// readPaths reads the codec's paths, each on a goroutine of the connection. The caller holds mu.
func (c *Conn) readPaths() {
	reader, ok := c.codec.(HTTPReader)
	if !ok || c.ctx.Err() != nil {
		return
	}
	for _, path := range reader.Paths() {
		c.goroutines.Go(func() {
			c.recoverPanic(func() {
				var body []byte
				if c.read != nil {
					body, _ = c.read(c.ctx, path) // on failure the codec continues without it
				}
				c.runCodec(func(now time.Time) codec.Output { return reader.PathRead(now, path, body) })
			})
		})
	}
}
