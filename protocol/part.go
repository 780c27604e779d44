package protocol

// PartStartData is the data of text.start and reasoning.start. Part is unique within the turn.
type PartStartData struct {
	Part  string `json:"part"`
	Agent string `json:"agent,omitempty"` // the speaker, of an agent with several
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

// TextContentData is the data of text.content: an image or another file in the agent's message,
// between two parts of text.
type TextContentData struct {
	Content Content `json:"content"`
}

// A Kind is the kind of a delta.
type Kind string

// The kinds of deltas.
const (
	KindText      Kind = "text"
	KindReasoning Kind = "reasoning"
	KindInput     Kind = "input"  // tool.input with text; Part is the tool call
	KindOutput    Kind = "output" // tool.output with text, not replacing; Part is the tool call
)

// JoinedData is the data of fold: the joined deltas of several parts, ordered by their first delta.
type JoinedData struct {
	Parts []JoinedPart `json:"parts"`
}

// A JoinedPart is the text of one part in a run. Task and Parent are those of its events.
type JoinedPart struct {
	Part   string `json:"part"`
	Kind   Kind   `json:"kind"`
	Text   string `json:"text"`
	Task   string `json:"task,omitempty"`
	Parent string `json:"parent,omitempty"`
}
