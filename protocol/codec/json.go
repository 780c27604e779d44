package codec

import (
	"bytes"
	"encoding/json"

	"agentctl/protocol"
)

// String decodes a JSON string; of any other JSON it returns "".
func String(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// IsNull reports whether JSON is absent or null.
func IsNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// maxExcerpt bounds an excerpt, in bytes.
const maxExcerpt = 80

// Excerpt returns the beginning of a peer's text as valid UTF-8, to quote in an error.
func Excerpt(s string) string { return Truncate(s, maxExcerpt) }

// Truncate returns at most limit bytes of a text, as valid UTF-8 if it was cut. limit is at least
// utf8.UTFMax.
func Truncate(s string, limit int) string {
	return protocol.SplitText(protocol.ValidText(s), limit)[0]
}
