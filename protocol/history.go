package protocol

import (
	"encoding/json"
	"fmt"
	"iter"
)

// Commands about the past of a session.
const (
	DoHistory Verb = "history"
	DoBlob    Verb = "blob"
)

var historyCommands = []CommandType{
	{
		Verb: DoHistory, Data: of[HistoryData], Result: of[HistoryResult], Role: RoleObserver, Session: true,
		Words:    "past turns",
		Examples: [2]string{`{"limit":5}`, `{"before":100}`},
		Routes: []Route{
			{
				Name: "getHistory", Method: "GET", Path: "/api/sessions/{id}/history",
				Summary: "Read the events of finished turns in pages, the newest first.", Query: true,
			},
		},
	},
	{
		Verb: DoBlob, Data: of[BlobData], Result: of[BlobResult], Role: RoleObserver, Session: true,
		Words:    "content stored by the server",
		Examples: [2]string{`{"blob":"b_1"}`, `{"blob":"b_1","offset":524288}`},
	},
}

// HistoryData requests finished turns before a seq (0: the newest). The answer holds them oldest
// first. Limit is 1 to 100 turns (0: 20); the answer also ends at about 1 MiB of events, or at
// Bytes.
type HistoryData struct {
	Before uint64 `json:"before,omitempty"`
	Limit  int    `json:"limit,omitempty"`

	// Bytes is the size of the answer in about bytes of events; 0, and at most: 1 MiB. It needs
	// Limits.HistoryBytes.
	Bytes int64 `json:"bytes,omitempty"`
}

// HistoryResult holds the joined events of whole turns. More means that older ones exist before
// First. A turn that is larger than an answer is sent from its end: the first event then does not
// start a turn, and the next answers hold the earlier events.
type HistoryResult struct {
	Epoch  string            `json:"epoch"`
	First  uint64            `json:"first,omitempty"`
	Last   uint64            `json:"last,omitempty"`
	More   bool              `json:"more,omitempty"`
	Events []json.RawMessage `json:"events"`
}

// OlderThan returns the Before of the request for the next older page, or 0 if this page is the
// oldest.
func (r *HistoryResult) OlderThan() uint64 {
	if !r.More {
		return 0
	}
	return r.First
}

// Decoded yields the events of the page, oldest first, with an error for a line that is not an
// event.
func (r *HistoryResult) Decoded() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		for _, line := range r.Events {
			e := new(Event)
			err := json.Unmarshal(line, e)
			if err != nil {
				err = fmt.Errorf("decode an event of the history: %w", err)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// BlobData requests a piece of a blob. Limit is at most 512 KiB (0: that much).
type BlobData struct {
	Blob   string `json:"blob"`
	Offset int64  `json:"offset,omitempty"`
	Limit  int64  `json:"limit,omitempty"`
}

// BlobResult holds a piece of a blob.
type BlobResult struct {
	Blob      string `json:"blob"`
	MediaType string `json:"media_type,omitempty"`
	Bytes     int64  `json:"bytes"` // of the whole
	Offset    int64  `json:"offset"`
	Data      []byte `json:"data"` // base64
}
