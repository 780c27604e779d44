package protocol

import "slices"

// Types of the events of texts and reasoning.
const (
	TextStart      Type = "text.start"
	TextDelta      Type = "text.delta"
	TextEnd        Type = "text.end"
	TextContent    Type = "text.content"
	ReasoningStart Type = "reasoning.start"
	ReasoningDelta Type = "reasoning.delta"
	ReasoningEnd   Type = "reasoning.end"
	JoinedDeltas   Type = "fold"
)

var textEvents = []EventType{
	{Type: TextStart, New: of[PartStartData], AgentMay: true, Exported: true, reduce: decoded(startPart(KindText))},
	{Type: TextDelta, New: of[PartDeltaData], AgentMay: true, Exported: true},
	{Type: TextEnd, New: of[PartEndData], AgentMay: true, Exported: true, reduce: decoded(endPart(KindText))},
	{Type: TextContent, New: of[TextContentData], AgentMay: true, Exported: true},
	{
		Type: ReasoningStart, New: of[PartStartData], AgentMay: true, Exported: true,
		reduce: decoded(startPart(KindReasoning)),
	},
	{Type: ReasoningDelta, New: of[PartDeltaData], AgentMay: true, Exported: true},
	{
		Type: ReasoningEnd, New: of[PartEndData], AgentMay: true, Exported: true,
		reduce: decoded(endPart(KindReasoning)),
	},
	{Type: JoinedDeltas, New: of[JoinedData], Exported: true},
}

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

// A JoinedPart is the text of one part in a run. Its events have the same Task and Parent.
type JoinedPart struct {
	Part   string `json:"part"`
	Kind   Kind   `json:"kind"`
	Text   string `json:"text"`
	Task   string `json:"task,omitempty"`
	Parent string `json:"parent,omitempty"`
}

func startPart(kind Kind) func(*State, *Event, *PartStartData) {
	return func(s *State, e *Event, d *PartStartData) {
		if s.Turn == nil ||
			slices.ContainsFunc(s.Turn.Parts, func(p OpenPart) bool { return p.Part == d.Part && p.Kind == kind }) {
			return // open already
		}
		s.Turn.Parts = append(s.Turn.Parts, OpenPart{Part: d.Part, Kind: kind, Task: e.Task})
	}
}

func endPart(kind Kind) func(*State, *Event, *PartEndData) {
	return func(s *State, _ *Event, d *PartEndData) {
		if s.Turn != nil {
			s.Turn.Parts = slices.DeleteFunc(s.Turn.Parts, func(p OpenPart) bool {
				return p.Part == d.Part && p.Kind == kind
			})
		}
	}
}
