package protocol

// PartStartData is the data of text.start and reasoning.start. Part is unique within the turn.
type PartStartData struct {
	Part  string `json:"part"`
	Agent string `json:"agent,omitempty"` // who speaks, where an agent has several voices
}

// PartDeltaData is the data of text.delta and reasoning.delta: text to append.
type PartDeltaData struct {
	Part string `json:"part"`
	Text string `json:"text"`
}

// PartEndData is the data of text.end and reasoning.end.
type PartEndData struct {
	Part       string `json:"part"`
	DurationMS int64  `json:"duration_ms,omitempty"`
}

// A Kind says what a run of deltas is made of.
type Kind string

// The kinds of deltas.
const (
	KindText      Kind = "text"
	KindReasoning Kind = "reasoning"
	KindInput     Kind = "input"  // tool.input with text; Part is the tool call
	KindOutput    Kind = "output" // tool.output with text, not replacing; Part is the tool call
)

// JoinedData is the data of fold: the joined deltas of several parts, in the order of their first delta.
type JoinedData struct {
	Parts []JoinedPart `json:"parts"`
}

// A JoinedPart is all text that one part got during a run. Task and Parent are those of its events.
type JoinedPart struct {
	Part   string `json:"part"`
	Kind   Kind   `json:"kind"`
	Text   string `json:"text"`
	Task   string `json:"task,omitempty"`
	Parent string `json:"parent,omitempty"`
}
