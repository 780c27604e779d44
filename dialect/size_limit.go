package dialect

import (
	"fmt"
	"io"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A SizeLimiter is a codec that reports a message over the limit to the foreign peer. The
// connection is closed afterwards. Its method is serialized with those of the codec. Every server
// codec is one; for other codecs the connection is closed without a report.
type SizeLimiter interface {
	// TooLarge replaces Foreign for a message over the limit. message is an error text for users.
	TooLarge(now time.Time, message string) codec.Output
}

// limitReader bounds a message to one byte over the limit, if the codec is a SizeLimiter.
func (c *Conn) limitReader(r io.Reader) io.Reader {
	if c.sizeLimiter == nil {
		return r // the WebSocket bounds it
	}
	return io.LimitReader(r, c.limit+1)
}

// failTooLarge lets the codec report a message over the limit, and closes the connection.
func (c *Conn) failTooLarge() {
	message := fmt.Sprintf("a message holds at most %d bytes", c.limit)
	c.runCodec(func(now time.Time) codec.Output {
		out := c.sizeLimiter.TooLarge(now, message)
		out.Close = &codec.Close{Code: protocol.CloseTooLarge, Reason: message}
		return out
	})
}
