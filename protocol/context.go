package protocol

// ContextInfo is how full the agent's context is; the data of context.updated.
type ContextInfo struct {
	Tokens           int64   `json:"tokens"`
	MaxTokens        int64   `json:"max_tokens"`
	Percent          float64 `json:"percent"`
	TranscriptLength int     `json:"transcript_length"`
	Strategy         string  `json:"strategy,omitempty"`
}

// ContextCompactedData is the data of context.compacted; before and after are tokens.
type ContextCompactedData struct {
	Before    int64   `json:"before"`
	After     int64   `json:"after"`
	Percent   float64 `json:"percent"` // reduction
	Strategy  string  `json:"strategy,omitempty"`
	Automatic bool    `json:"automatic,omitempty"`
}

// Usage counts tokens and money; the data of usage.updated (the session's sums).
type Usage struct {
	Input     int64   `json:"input,omitempty"`
	Output    int64   `json:"output,omitempty"`
	Cached    int64   `json:"cached,omitempty"`
	Reasoning int64   `json:"reasoning,omitempty"`
	Cost      float64 `json:"cost,omitempty"`
	Currency  string  `json:"currency,omitempty"`
	Model     string  `json:"model,omitempty"`
}

// Options is what an agent says it is and lets people set; the data of agent.options, always whole.
type Options struct {
	Name     string         `json:"name,omitempty"`
	Version  string         `json:"version,omitempty"`
	Settings []Setting      `json:"settings,omitempty"`
	Commands []SlashCommand `json:"commands,omitempty"`
}

// A Setting is something configure can set.
type Setting struct {
	ID      string   `json:"id"` // mode, model, or the agent's own name for it
	Name    string   `json:"name,omitempty"`
	Value   string   `json:"value,omitempty"`
	Choices []Choice `json:"choices,omitempty"`
}

// A Slash is a command that the agent understands at the start of a message.
type SlashCommand struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	Hint  string `json:"hint,omitempty"`
}
