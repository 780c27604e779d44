package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"agentctl/protocol"
)

// encode is protocol.Encode, made compact and valid UTF-8 also where the value holds foreign JSON.
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
	longText  = 8 << 10
	shortText = 2 << 10
)

// shorten cuts every long text in a JSON tree and returns the whole texts as blobs.
func shorten(v any) (any, []Blob) {
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
			v[i], more = shorten(v[i])
			blobs = append(blobs, more...)
		}
	case map[string]any:
		for k := range v {
			var more []Blob
			v[k], more = shorten(v[k])
			blobs = append(blobs, more...)
		}
	}
	return v, blobs
}

func fitContent(c *protocol.Content) []Blob {
	c.Data = fitJSON(c.Data)
	if len(c.Data) <= protocol.MaxEvent/8 {
		return nil
	}
	b := newBlob("application/json", c.Data)
	if c.MediaType != "" {
		b.MediaType = c.MediaType
	}
	c.Data, c.Blob, c.Bytes = nil, b.ID, int64(len(b.Data))
	return []Blob{b}
}

// newBlob names a payload by what it holds, so that the same one is kept once.
func newBlob(mediaType string, data []byte) Blob {
	sum := sha256.Sum256(data)
	return Blob{ID: "b_" + hex.EncodeToString(sum[:12]), MediaType: mediaType, Data: data}
}

const maxID = 256 // bytes of an id that an agent made

// fitID makes an agent's id fit for every event that names it: a long one keeps its beginning and a hash of all of it, so that
// equal ids stay equal.
func fitID(id string) string {
	id = protocol.ValidText(id)
	if len(id) <= maxID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return protocol.SplitText(id, maxID-25)[0] + "#" + hex.EncodeToString(sum[:12])
}

const maxNesting = 64 // of foreign JSON: what readers of JSON can be trusted with

// fitJSON makes foreign JSON fit for an event. What is not JSON, or nested too deep, is kept as a string.
func fitJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if compact, ok := protocol.Compact(raw); ok && nesting(compact) <= maxNesting {
		return compact
	}
	return protocol.AppendString(nil, protocol.ValidText(string(raw)))
}

// nesting returns how deep valid JSON is nested.
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
