package protocol

import "time"

// Commands about searches.
const (
	DoSearch Verb = "search"
)

var searchCommands = []CommandType{
	{
		Verb: DoSearch, Data: of[SearchData], Result: of[SearchResult], Role: RoleObserver,
		Words:    "search",
		Examples: [2]string{`{"query":"disk full"}`, `{"query":"error"}`},
		Routes: []Route{
			{
				Name: "searchSession", Method: "GET", Path: "/api/sessions/{id}/search",
				Summary: "Search a session.", Query: true,
			},
			{Name: "search", Method: "GET", Path: "/api/search", Summary: "Search all sessions.", Query: true},
		},
	},
}

// SearchData searches one session or, without a session, all, for a query: see ParseQuery. Limit is
// 1 to 200 hits (0: 50). Cursor continues where the answer with that cursor ended, for the same
// session and query.
type SearchData struct {
	Query  string `json:"query"`
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

// SearchResult holds hits, newest first; of several sessions, the newest session's hits come first.
// An answer may hold fewer hits than the limit, or none, since each call searches a bounded amount.
// A cursor means that more remains to be searched.
type SearchResult struct {
	Hits    []Hit    `json:"hits"`
	Cursor  string   `json:"cursor,omitempty"`
	Skipped []string `json:"skipped,omitempty"` // unreadable sessions
}

// A HitKind is the kind of item that matched.
type HitKind string

// The kinds of hits.
const (
	HitUser      HitKind = "user" // a message that started the turn, or joined it
	HitText      HitKind = "text"
	HitReasoning HitKind = "reasoning"
	HitTool      HitKind = "tool" // name, title, arguments, output or error of a tool call
	HitApproval  HitKind = "approval"
	HitError     HitKind = "error" // an error event, or how the turn failed
)

// A Hit is an item of a turn that matches the query.
type Hit struct {
	Session string    `json:"session"`
	Turn    string    `json:"turn"`
	First   uint64    `json:"first"` // seq of the turn's first event
	Seq     uint64    `json:"seq"`   // of the item's first event; of turn.ended for how the turn failed
	Kind    HitKind   `json:"kind"`
	Item    string    `json:"item,omitempty"` // id of the part, tool call or request; empty for a user's message
	Time    time.Time `json:"time"`
	Count   int       `json:"count"`   // see Query.Count; 0: not counted
	Snippet string    `json:"snippet"` // a line around the first match
	Matches []Span    `json:"matches"` // in the snippet
}

// A Span is a range of a text, in bytes of UTF-8.
type Span struct {
	From int `json:"from"`
	To   int `json:"to"`
}
