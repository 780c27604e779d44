package dialect

import (
	"fmt"
	"io"
	"time"

	"agentctl/protocol/codec"

	"agentctl/protocol"
)

// A Refuser is a codec that has words for a message over the limit. The connection ends after them. Its method comes in turn with
// those of the codec. At our server's end every codec is one; without it the connection ends without a word.
type SizeLimiter interface {
	// TooLarge is told in place of Foreign. message says what is wrong, for people.
	TooLarge(now time.Time, message string) codec.Output
}

// bounded is a message up to one byte over the limit, for a codec that refuses what is longer.
func (c *Conn) bounded(r io.Reader) io.Reader {
	if c.refuser == nil {
		return r // the socket bounds it
	}
	return io.LimitReader(r, c.limit+1)
}

// refuse lets the codec say that a message is too large, and closes.
func (c *Conn) refuse() {
	message := fmt.Sprintf("a message holds at most %d bytes", c.limit)
	c.call(func(now time.Time) codec.Output {
		out := c.refuser.TooLarge(now, message)
		out.Close = &codec.Close{Code: protocol.CloseTooLarge, Reason: message}
		return out
	})
}
