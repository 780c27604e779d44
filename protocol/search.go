package protocol

import "time"

// SearchData looks for the words of a query in one session or, when the command names none, in all: see ParseQuery. Limit is
// 1 to 200 hits (0: 50). Cursor goes on where the answer that gave it ended, for the same session and query.
type SearchData struct {
	Query  string `json:"query"`
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

// SearchResult holds what was found, the newest first; of all sessions, those made last come first. An answer may hold fewer
// hits than wanted, or none, because one call looks through so much and no more: while there is a cursor, there is more to
// look through.
type SearchResult struct {
	Hits    []Hit    `json:"hits"`
	Cursor  string   `json:"cursor,omitempty"`
	Skipped []string `json:"skipped,omitempty"` // sessions that could not be read
}

// A HitKind says what holds the words.
type HitKind string

// The kinds of hits.
const (
	HitUser      HitKind = "user" // the message that started the turn
	HitText      HitKind = "text"
	HitReasoning HitKind = "reasoning"
	HitTool      HitKind = "tool" // name, title, arguments, output or error of a tool call
	HitApproval  HitKind = "approval"
	HitError     HitKind = "error" // an error event, or how the turn failed
)

// A Hit is one item of a turn that holds every word.
type Hit struct {
	Session string    `json:"session"`
	Turn    string    `json:"turn"`
	First   uint64    `json:"first"` // seq of the turn's first event
	Seq     uint64    `json:"seq"`   // of the event that made the item; the turn's first, when a delta did or the turn failed
	Kind    HitKind   `json:"kind"`
	Item    string    `json:"item,omitempty"` // id of the part, tool call or request; of a user's message
	Time    time.Time `json:"time"`
	Count   int       `json:"count"`   // of the words in the item: see Query.Count; 0: not counted
	Snippet string    `json:"snippet"` // a line of the text around the first word
	Matches []Span    `json:"matches"` // in the snippet
}

// A Span is a piece of a text, in bytes of its UTF-8.
type Span struct {
	From int `json:"from"`
	To   int `json:"to"`
}
