package output

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/record"
)

// truncateTexts truncates every long text in a JSON tree, in place, and returns the full texts as
// blobs.
func truncateTexts(v any) (any, []eventlog.Blob) {
	var blobs []eventlog.Blob
	switch v := v.(type) {
	case string:
		if len(v) <= record.LongText {
			return v, nil
		}
		b := agent.NewBlob("text/plain; charset=utf-8", []byte(v))
		return fmt.Sprintf("%s… (%d bytes, blob %s)", protocol.SplitText(v, record.ShortText)[0], len(v), b.ID), []eventlog.Blob{b}
	case []any:
		for i := range v {
			var more []eventlog.Blob
			v[i], more = truncateTexts(v[i])
			blobs = append(blobs, more...)
		}
	case map[string]any:
		for k := range v {
			var more []eventlog.Blob
			v[k], more = truncateTexts(v[k])
			blobs = append(blobs, more...)
		}
	}
	return v, blobs
}

// textBlob matches the end of a text in JSON that truncateTexts truncated.
var textBlob = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`… \((\d+ bytes), blob b_[0-9a-f]+\)"`) })

// ReplaceTextBlobs replaces each blob of a truncated text in the encoded data of an event with a
// reason.
func ReplaceTextBlobs(data []byte, reason string) []byte {
	if !bytes.Contains(data, []byte(" bytes, blob b_")) {
		return data
	}
	return textBlob().ReplaceAll(data, []byte("… ($1, "+reason+`)"`))
}

const (
	inlineContent  = protocol.MaxEvent / 8 // bytes of data, or of text in a message, that a content keeps
	inlineContents = protocol.MaxEvent / 2 // bytes of data that the contents of an event keep
)

// Contents makes the data of contents fit an event, in place. It returns every image and
// file, and other data that is too large, as blobs.
func Contents(list []protocol.Content) []eventlog.Blob {
	var blobs []eventlog.Blob
	room := inlineContents
	for i := range list {
		c := &list[i]
		c.Data = sanitizeJSON(c.Data)
		fits := len(c.Data) <= min(inlineContent, room)
		data, isFile := contentBytes(c)
		b := agent.NewBlob(cmp.Or(c.MediaType, "application/octet-stream"), data)
		switch {
		case isFile:
		case fits:
			room -= len(c.Data)
			continue
		default:
			b = agent.NewBlob(cmp.Or(c.MediaType, "application/json"), c.Data)
		}
		if c.Blob, c.Bytes = b.ID, int64(len(b.Data)); !fits {
			c.Data = nil
		}
		room -= len(c.Data)
		blobs = append(blobs, b)
	}
	return blobs
}

// sanitizeMessageContent makes a content of an agent's message fit an event. A long text becomes a
// blob.
func sanitizeMessageContent(c *protocol.Content) []eventlog.Blob {
	if c.Type == "text" && len(c.Text) > inlineContent {
		b := agent.NewBlob(cmp.Or(c.MediaType, "text/plain; charset=utf-8"), []byte(protocol.ValidText(c.Text)))
		c.Text, c.Blob, c.Bytes = "", b.ID, int64(len(b.Data))
		return []eventlog.Blob{b}
	}
	list := []protocol.Content{*c}
	blobs := Contents(list)
	*c = list[0]
	return blobs
}

// contentBytes returns the bytes of an image, audio or a file, which a content has in base64.
func contentBytes(c *protocol.Content) (data []byte, ok bool) {
	switch c.Type {
	case "image", "audio", "blob":
	default:
		return nil, false
	}
	err := json.Unmarshal(c.Data, &data) // base64
	return data, err == nil && len(data) > 0
}

// MaxID bounds an id made by an agent, in bytes.
const MaxID = 256

const maxNesting = 64 // levels of foreign JSON, a depth that common JSON decoders accept
