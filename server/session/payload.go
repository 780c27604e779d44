package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"agentctl/protocol"
)

// encode returns v as compact JSON in valid UTF-8, foreign JSON within it included. A nil v has no
// encoding.
func encode(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	raw, err := protocol.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	raw, ok := protocol.Compact(raw)
	if !ok {
		return nil, fmt.Errorf("encode %T: not JSON", v)
	}
	return raw, nil
}

const (
	longText  = 8 << 10 // bytes; a longer text is truncated in an event that is too large
	shortText = 2 << 10 // bytes kept of a truncated text
)

// truncateTexts truncates every long text in a JSON tree, in place, and returns the full texts as
// blobs.
func truncateTexts(v any) (any, []Blob) {
	var blobs []Blob
	switch v := v.(type) {
	case string:
		if len(v) <= longText {
			return v, nil
		}
		b := newBlob("text/plain; charset=utf-8", []byte(v))
		return fmt.Sprintf("%s… (%d bytes, blob %s)", protocol.SplitText(v, shortText)[0], len(v), b.ID), []Blob{b}
	case []any:
		for i := range v {
			var more []Blob
			v[i], more = truncateTexts(v[i])
			blobs = append(blobs, more...)
		}
	case map[string]any:
		for k := range v {
			var more []Blob
			v[k], more = truncateTexts(v[k])
			blobs = append(blobs, more...)
		}
	}
	return v, blobs
}

// sanitizeContent makes the data of a content fit an event; it returns data too large as a blob.
func sanitizeContent(c *protocol.Content) []Blob {
	c.Data = sanitizeJSON(c.Data)
	if len(c.Data) <= protocol.MaxEvent/8 {
		return nil
	}
	b := newBlob("application/json", c.Data)
	if data, ok := contentBytes(c); ok {
		b = newBlob(c.MediaType, data)
	} else if c.MediaType != "" {
		b.MediaType = c.MediaType
	}
	c.Data, c.Blob, c.Bytes = nil, b.ID, int64(len(b.Data))
	return []Blob{b}
}

// contentBytes returns the bytes of an image or a file, which a content has in base64.
func contentBytes(c *protocol.Content) (data []byte, ok bool) {
	if c.Type != "image" && c.Type != "blob" || c.MediaType == "" {
		return nil, false
	}
	err := json.Unmarshal(c.Data, &data) // base64
	return data, err == nil && len(data) > 0
}

// newBlob makes a blob whose id is a hash of its data, so that equal data is stored once.
func newBlob(mediaType string, data []byte) Blob {
	sum := sha256.Sum256(data)
	return Blob{ID: "b_" + hex.EncodeToString(sum[:12]), MediaType: mediaType, Data: data}
}

const maxID = 256 // bytes of an id made by an agent

// sanitizeID makes an agent's id valid UTF-8 of at most maxID bytes. A longer id becomes its prefix
// and a hash of all of it, so that equal ids stay equal.
func sanitizeID(id string) string {
	id = protocol.ValidText(id)
	if len(id) <= maxID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return protocol.SplitText(id, maxID-25)[0] + "#" + hex.EncodeToString(sum[:12])
}

const maxNesting = 64 // levels of foreign JSON, a depth that common JSON decoders accept

// sanitizeJSON compacts foreign JSON. Invalid JSON, and JSON nested deeper than maxNesting, becomes
// a JSON string.
func sanitizeJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if compact, ok := protocol.Compact(raw); ok && nesting(compact) <= maxNesting {
		return compact
	}
	return protocol.AppendString(nil, protocol.ValidText(string(raw)))
}

// nesting returns the nesting depth of valid JSON.
func nesting(raw []byte) int {
	depth, deepest := 0, 0
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
