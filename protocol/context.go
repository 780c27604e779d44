package protocol

import (
	"cmp"
	"slices"
)

// Types of the events of the context, its usage and the settings of the agent.
const (
	ContextUpdated   Type = "context.updated"
	ContextCompacted Type = "context.compacted"
	UsageUpdated     Type = "usage.updated"
	AgentOptions     Type = "agent.options"
)

var contextEvents = []EventType{
	{
		Type: ContextUpdated, New: of[ContextInfo], AgentMay: true,
		reduce: decoded(func(s *State, _ *Event, d *ContextInfo) { s.Context = d }),
	},
	{Type: ContextCompacted, New: of[ContextCompactedData], AgentMay: true, reduce: decoded((*State).setCompacted)},
	{
		Type: UsageUpdated, New: of[Usage], AgentMay: true,
		reduce: decoded(func(s *State, _ *Event, d *Usage) { s.Usage = d }),
	},
	{Type: AgentOptions, New: of[Options], AgentMay: true, reduce: decoded((*State).setOptions)},
}

// Commands about the context and the settings of the agent.
const (
	DoConfigure Verb = "configure"
	DoContext   Verb = "context"
	DoCompact   Verb = "compact"
)

var contextCommands = []CommandType{
	{
		Verb: DoConfigure, Data: of[ConfigureData], Result: of[Empty],
		Role: RoleOperator, Session: true, Changes: true,
		Words:    "settings of the agent",
		Examples: [2]string{`{"setting":"mode","value":"full"}`, `{"setting":"mode","value":"ask"}`},
		Routes: []Route{
			{
				Name: "setOption", Method: "PUT", Path: "/api/sessions/{id}/options/{setting}",
				Summary: "Change a setting of the agent.",
			},
		},
	},
	{
		Verb: DoContext, Data: of[Empty], Result: of[ContextResult], Role: RoleObserver, Session: true,
		Words: "the usage of the context",
		Routes: []Route{
			{
				Name: "getContext", Method: "GET", Path: "/api/sessions/{id}/context",
				Summary: "Get the usage of the agent's context.", Query: true,
			},
		},
	},
	{
		Verb: DoCompact, Data: of[Empty], Result: of[CompactResult],
		Role: RoleOperator, Session: true, Changes: true,
		Words: "compacting the context",
		Routes: []Route{
			{
				Name: "compact", Method: "POST", Path: "/api/sessions/{id}/compact",
				Summary: "Compact the agent's context.",
			},
		},
	},
}

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

// Usage counts tokens and cost. In usage.updated it is the session's total. A count of 0 is
// omitted, like an unknown one.
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
	FeatureUndo  = "undo" // undo, retry
	FeatureFork  = "fork"
	FeatureSteer = "steer" // takes messages into a turn
)

// Has reports whether the agent has a feature. An agent that names no features may still have it.
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

// ConfigureData changes one setting of the agent.
type ConfigureData struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
}

// ContextResult reports the usage of the agent's context.
type ContextResult struct {
	Context ContextInfo   `json:"context"`
	Usage   *Usage        `json:"usage,omitempty"`
	Parts   []ContextPart `json:"parts,omitempty"`
	Limits  []UsageWindow `json:"limits,omitempty"` // of the agent's account, as last reported
}

// A ContextPart is a kind of content and the tokens that it takes of the context, estimated.
type ContextPart struct {
	Name   string `json:"name"`
	Tokens int64  `json:"tokens"`
}

// CompactResult reports the effect of a compaction.
type CompactResult struct {
	Compacted ContextCompactedData `json:"compacted"`
}

// setOptions sets the agent's options. A setting without a default keeps its earlier one, which is
// its first value.
func (s *State) setOptions(_ *Event, d *Options) {
	var before Options
	if s.Options != nil {
		before = *s.Options
	}
	for i := range d.Settings {
		set := &d.Settings[i]
		if at := slices.IndexFunc(before.Settings, func(b Setting) bool { return b.ID == set.ID }); at >= 0 {
			set.Default = cmp.Or(set.Default, before.Settings[at].Default, before.Settings[at].Value)
		}
		set.Default = cmp.Or(set.Default, set.Value)
	}
	s.Options = d
}

// setCompacted sets the context's tokens until the agent reports them.
func (s *State) setCompacted(_ *Event, d *ContextCompactedData) {
	if s.Context == nil {
		return
	}
	c := *s.Context
	c.Tokens = d.After
	if c.MaxTokens > 0 {
		c.Percent = 100 * float64(c.Tokens) / float64(c.MaxTokens)
	}
	s.Context = &c
}
