package dialect

import (
	"context"
	"time"

	"agentctl/protocol/codec"
)

// A Getter is a codec at our client's end that also asks its server over plain HTTP, where that system has its history. Its
// methods come in turn with those of the codec.
type HTTPReader interface {
	// Paths returns the paths, with their queries, that it wants read since it was asked last.
	Paths() []string

	// PathRead hands over what a path holds; nil: it cannot be read.
	PathRead(now time.Time, path string, body []byte) codec.Output
}

// A Get reads a path of the server that a connection is with. It has a deadline of its own and bounds what it reads.
type ReadFunc func(ctx context.Context, path string) ([]byte, error)

// fetch reads what the codec wants read, each on a goroutine of its own, which the connection waits for. The caller holds mu.
func (c *Conn) fetch() {
	g, ok := c.codec.(HTTPReader)
	if !ok || c.life.Err() != nil {
		return
	}
	for _, path := range g.Paths() {
		c.both.Go(func() {
			c.guard(func() {
				var body []byte
				if c.get != nil {
					body, _ = c.get(c.life, path) // without it the codec goes on
				}
				c.call(func(now time.Time) codec.Output { return g.PathRead(now, path, body) })
			})
		})
	}
}
