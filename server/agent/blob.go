package agent

import (
	"crypto/sha256"
	"encoding/hex"
)

// A Blob is a payload too large for an event or a state. ID is unique within its session.
type Blob struct {
	ID        string
	MediaType string
	Data      []byte
}

// NewBlob makes a blob whose id is a hash of its data, so that equal data is stored once.
func NewBlob(mediaType string, data []byte) Blob {
	sum := sha256.Sum256(data)
	return Blob{ID: "b_" + hex.EncodeToString(sum[:12]), MediaType: mediaType, Data: data}
}
