package wire

import (
	"time"

	"agentctl/protocol"
)

// Bounds in bytes. MyAgent's clients accept messages of 1 MiB.
const (
	MaxAnswer = 256 << 10 // the final answer
	MaxSigned = 768 << 10 // a signed state, which a client must be able to send back

	maxDisplayText = 512
)

// DefaultStateTTL is the lifetime of an exported state.
const DefaultStateTTL = 7 * 24 * time.Hour

// Shorten bounds a display text.
func Shorten(s string) string {
	if len(s) <= maxDisplayText {
		return s
	}
	return protocol.SplitText(s, maxDisplayText)[0] + "…"
}
