package protocol

import "slices"

// ContextInfo is the usage of the agent's context, the data of context.updated.
type ContextInfo struct {
	Tokens           int64   `json:"tokens"`
	MaxTokens        int64   `json:"max_tokens"`
	Percent          float64 `json:"percent"`
	TranscriptLength int     `json:"transcript_length"`
	Strategy         string  `json:"strategy,omitempty"`
}

// ContextCompactedData is the data of context.compacted. Before and After are tokens.
type ContextCompactedData struct {
	Before    int64   `json:"before"`
	After     int64   `json:"after"`
	Percent   float64 `json:"percent"` // reduction
	Strategy  string  `json:"strategy,omitempty"`
	Automatic bool    `json:"automatic,omitempty"`
}

// Usage counts tokens and cost. In usage.updated it is the session's total. A count of 0 is left
// out, like one that is not known.
type Usage struct {
	Input     int64   `json:"input,omitempty"`
	Output    int64   `json:"output,omitempty"`
	Cached    int64   `json:"cached,omitempty"`
	Reasoning int64   `json:"reasoning,omitempty"`
	Cost      float64 `json:"cost,omitempty"`
	Currency  string  `json:"currency,omitempty"`
	Model     string  `json:"model,omitempty"`
}

// Options describes the agent and its settings, the data of agent.options. It always holds all of
// them.
type Options struct {
	Name     string         `json:"name,omitempty"`
	Version  string         `json:"version,omitempty"`
	Settings []Setting      `json:"settings,omitempty"`
	Commands []SlashCommand `json:"commands,omitempty"`
	Features []string       `json:"features,omitempty"` // optional commands that it carries out

	Resources []Resource `json:"resources,omitempty"`
}

// Features of agents.
const (
	FeatureUndo = "undo" // undo, retry
	FeatureFork = "fork"
)

// Has reports whether the agent has a feature. An agent that names none may have it all the same.
func (o *Options) Has(feature string) bool { return o != nil && slices.Contains(o.Features, feature) }

// A Setting is a setting that configure can change.
type Setting struct {
	ID      string   `json:"id"` // mode, model, or a name of the agent's own
	Name    string   `json:"name,omitempty"`
	Value   string   `json:"value,omitempty"`
	Default string   `json:"default,omitempty"` // in a state it has the first value if the agent names none
	Choices []Choice `json:"choices,omitempty"`

	// RequestsOnly: it decides about the agent's requests. The agent may act without a request.
	RequestsOnly bool `json:"requests_only,omitempty"`
}

// A Resource is content that a message can mention as "@" and its name. The agent reads it when it
// gets the message.
type Resource struct {
	Name  string `json:"name"` // SERVER:URI, without spaces
	Title string `json:"title,omitempty"`
}

// A SlashCommand is a command that the agent understands at the start of a message.
type SlashCommand struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	Hint  string `json:"hint,omitempty"`
}
