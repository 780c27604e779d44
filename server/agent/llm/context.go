package llm

import (
	"cmp"
	"context"

	"agentctl/protocol"
	"agentctl/server/agent/llm/compaction"
	"agentctl/server/agent/llm/model"
)

// The strategies of the context.
const (
	contextThreshold = "threshold" // compacted when it is almost full
	contextManual    = "manual"    // compacted by a command, or when the provider refuses it
)

// defaultThreshold is the part of the context that is used before it is compacted.
const defaultThreshold = 0.8

// A ContextConfig defines when the context is compacted.
type ContextConfig struct {
	Strategy  string  `json:"strategy"`  // threshold or manual; default threshold
	Threshold float64 `json:"threshold"` // part of the model's context that is used before; default 0.8
}

const (
	bytesPerToken    = 4  // an estimate, before a provider has counted any
	maxBytesPerToken = 20 // that a count of a provider may mean
)

// setContext records the size of the conversation in tokens and bytes. If tokens is too low, the
// provider has counted none, or only uncached ones, as some compatible servers do: an estimate
// replaces it.
func (s *state) setContext(tokens, size int64) {
	if tokens*maxBytesPerToken < size {
		tokens = size / bytesPerToken
	}
	s.Context, s.Counted = tokens, size
}

// tokens estimates the tokens of a number of bytes, from the last count of the provider.
func (s *state) tokens(size int64) int64 {
	if s.Counted == 0 {
		return size / bytesPerToken
	}
	return int64(float64(size) * float64(s.Context) / float64(s.Counted))
}

// bytes estimates the bytes of a number of tokens.
func (s *state) bytes(tokens int64) int64 {
	if s.Context == 0 || s.Counted == 0 {
		return tokens * bytesPerToken
	}
	return int64(float64(tokens) * float64(s.Counted) / float64(s.Context))
}

// A measure is how much of a model's context a conversation takes, and how much it may. It is valid while the state
// is locked.
type measure struct {
	s      *state
	config ContextConfig
	prompt string
	tools  []Tool // of the toolbox
}

// measure measures the conversation of a state. The lock is held.
func (a *Agent) measure(s *state, toolbox Toolbox) *measure {
	m := &measure{s: s, config: a.options.Config.Context, prompt: a.prompt}
	if toolbox != nil {
		m.tools = toolbox.Tools()
	}
	return m
}

// size returns the bytes of a request with the conversation.
func (m *measure) size() int64 {
	return int64(len(m.prompt)) + m.toolSize() + compaction.Size(m.s.Conversation)
}

func (m *measure) toolSize() (size int64) {
	for _, t := range m.tools {
		size += int64(len(t.Name) + len(t.About) + len(t.Schema))
	}
	return size
}

// strategy returns the strategy of the context.
func (m *measure) strategy() string { return cmp.Or(m.s.Strategy, m.config.Strategy, contextThreshold) }

// room returns the bytes of a conversation that have a number of tokens with the instructions and the
// tools; 0: no number.
func (m *measure) room(tokens int64) int64 {
	if tokens == 0 {
		return 0
	}
	return max(1, m.s.bytes(tokens)-int64(len(m.prompt))-m.toolSize())
}

// limit returns the tokens of the context that are used before it is compacted; 0: not known.
func (m *measure) limit(b *model.Backend) int64 {
	limit := int64(cmp.Or(m.config.Threshold, defaultThreshold) * float64(b.Window))
	if b.MaxOut > 0 { // the answer needs room too
		limit = min(limit, max(b.Window/2, b.Window-b.MaxOut))
	}
	return limit
}

// full returns how full the context would be with the next request, and reports whether this is more than it may
// be. It is not if the context could not be made smaller.
func (m *measure) full(b *model.Backend) (percent float64, full bool) {
	if b.Window == 0 {
		return 0, false
	}
	size := m.size()
	tokens := m.s.tokens(size)
	percent = 100 * float64(tokens) / float64(b.Window)
	if grown := m.s.Compacted; grown > 0 && size < grown+grown/4 || m.strategy() != contextThreshold {
		return percent, false
	}
	return percent, tokens > m.limit(b)
}

// leastResult is the bytes that each result of a call may have, however full the context is.
const leastResult = 2 << 10

// resultRoom returns the bytes that the result of the next call may have, so that the results of a step
// fit the context: its share of what is left, or of a quarter of the context, for which compacting makes
// room. 0: any number.
func (m *measure) resultRoom(b *model.Backend) int {
	room := m.room(m.limit(b))
	if room == 0 {
		return 0
	}
	left, open := max(room/4, room-compaction.Size(m.s.Conversation)), int64(0)
	for _, c := range m.s.Turn.Calls {
		if c.Result == nil {
			open++
		} else {
			left -= int64(len(c.Result.Text))
		}
	}
	return int(max(leastResult, left/max(1, open)))
}

// info returns the context usage as the provider counted it last.
func (m *measure) info(b *model.Backend) protocol.ContextInfo {
	info := protocol.ContextInfo{
		Tokens: m.s.Context, MaxTokens: b.Window, TranscriptLength: len(m.s.Conversation), Strategy: m.strategy(),
	}
	setPercent(&info)
	return info
}

// setting returns the setting of the strategy.
func (m *measure) setting() protocol.Setting {
	return protocol.Setting{
		ID: contextSetting, Name: "Context", Value: m.strategy(),
		Default: cmp.Or(m.config.Strategy, contextThreshold),
		Choices: []protocol.Choice{
			{ID: contextThreshold, Label: "threshold", About: "compacted when it is almost full"},
			{ID: contextManual, Label: "manual", About: "compacted by you, or when the model refuses it"},
		},
	}
}

// contextInfo returns the context usage as the provider counted it last.
func (a *Agent) contextInfo(b *model.Backend) protocol.ContextInfo {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.measure(&a.state, nil).info(b)
}

// Context implements agent.Measurer.
func (a *Agent) Context(ctx context.Context) (protocol.ContextInfo, []protocol.ContextPart, error) {
	backend, toolbox, err := a.open(ctx)
	if err != nil {
		return protocol.ContextInfo{}, nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.measure(&a.state, toolbox)
	info := m.info(backend)
	info.Tokens = a.state.tokens(m.size())
	setPercent(&info)
	return info, m.parts(), nil
}

// parts returns the parts of the context with their sizes.
func (m *measure) parts() (parts []protocol.ContextPart) {
	s := compaction.Measure(m.s.Conversation)
	notes, sizes := noteSizes(m.s.Conversation)
	for _, of := range notes {
		s.User -= sizes[of]
	}
	type part struct {
		name string
		size int64
	}
	list := []part{
		{"instructions", int64(len(m.prompt))},
		{"tools", m.toolSize()},
		{"messages", s.User},
		{"files", s.Files},
		{"answers", s.Answers},
		{"reasoning", s.Reasoning},
		{"tool calls", s.Calls},
		{"tool results", s.Results},
	}
	for _, of := range notes {
		list = append(list, part{of, sizes[of]})
	}
	for _, x := range list {
		if tokens := m.s.tokens(x.size); tokens > 0 {
			parts = append(parts, protocol.ContextPart{Name: x.name, Tokens: tokens})
		}
	}
	return parts
}

func setPercent(info *protocol.ContextInfo) {
	if info.Percent = 0; info.MaxTokens > 0 {
		info.Percent = 100 * float64(info.Tokens) / float64(info.MaxTokens)
	}
}
