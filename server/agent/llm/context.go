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

// size returns the bytes of a request with the conversation. The lock is held.
func (a *Agent) size(s *state, toolbox Toolbox) int64 {
	return a.fixedSize(toolbox) + compaction.Size(s.Conversation)
}

// fixedSize returns the bytes of the instructions and the tools. The lock is held.
func (a *Agent) fixedSize(toolbox Toolbox) int64 {
	instructions, tools := a.fixedSizes(toolbox)
	return instructions + tools
}

func (a *Agent) fixedSizes(toolbox Toolbox) (instructions, tools int64) {
	instructions = int64(len(a.prompt))
	if toolbox == nil {
		return instructions, 0
	}
	for _, t := range toolbox.Tools() {
		spec := t.Spec()
		tools += int64(len(spec.Name) + len(spec.About) + len(spec.Schema))
	}
	return instructions, tools
}

// strategy returns the strategy of the context. The lock is held.
func (a *Agent) strategy() string {
	return cmp.Or(a.state.Strategy, a.options.Config.Context.Strategy, contextThreshold)
}

// room returns the bytes of a conversation that have a number of tokens with the instructions and the
// tools; 0: no number. The lock is held.
func (a *Agent) room(s *state, tokens int64, toolbox Toolbox) int64 {
	if tokens == 0 {
		return 0
	}
	return max(1, s.bytes(tokens)-a.fixedSize(toolbox))
}

// limit returns the tokens of the context that are used before it is compacted; 0: not known.
func (a *Agent) limit(b *model.Backend) int64 {
	threshold := cmp.Or(a.options.Config.Context.Threshold, defaultThreshold)
	limit := int64(threshold * float64(b.Window))
	if b.MaxOut > 0 { // the answer needs room too
		limit = min(limit, max(b.Window/2, b.Window-b.MaxOut))
	}
	return limit
}

// fullContext returns how full the context would be with the next request, and reports whether this is
// more than it may be. It is not if the context could not be made smaller.
func (a *Agent) fullContext(b *model.Backend, toolbox Toolbox) (percent float64, full bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b.Window == 0 {
		return 0, false
	}
	size := a.size(&a.state, toolbox)
	tokens := a.state.tokens(size)
	percent = 100 * float64(tokens) / float64(b.Window)
	if grown := a.state.Compacted; grown > 0 && size < grown+grown/4 || a.strategy() != contextThreshold {
		return percent, false
	}
	return percent, tokens > a.limit(b)
}

// contextSize returns the bytes of the next request.
func (a *Agent) contextSize(toolbox Toolbox) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.size(&a.state, toolbox)
}

// leastResult is the bytes that each result of a call may have, however full the context is.
const leastResult = 2 << 10

// resultRoom returns the bytes that the result of the next call may have, so that the results of a step
// fit the context: its share of what is left, or of a quarter of the context, for which compacting makes
// room. 0: any number. The lock is held.
func (a *Agent) resultRoom(s *state, b *model.Backend, toolbox Toolbox) int {
	room := a.room(s, a.limit(b), toolbox)
	if room == 0 {
		return 0
	}
	left, open := max(room/4, room-compaction.Size(s.Conversation)), int64(0)
	for _, c := range s.Turn.Calls {
		if c.Result == nil {
			open++
		} else {
			left -= int64(len(c.Result.Text))
		}
	}
	return int(max(leastResult, left/max(1, open)))
}

// Context implements agent.Measurer.
func (a *Agent) Context(ctx context.Context) (protocol.ContextInfo, []protocol.ContextPart, error) {
	backend, toolbox, err := a.open(ctx)
	if err != nil {
		return protocol.ContextInfo{}, nil, err
	}
	info := a.contextInfo(backend)
	a.mu.Lock()
	defer a.mu.Unlock()
	info.Tokens = a.state.tokens(a.size(&a.state, toolbox))
	setPercent(&info)
	return info, a.contextParts(toolbox), nil
}

// contextParts returns the parts of the context with their sizes. The lock is held.
func (a *Agent) contextParts(toolbox Toolbox) (parts []protocol.ContextPart) {
	instructions, tools := a.fixedSizes(toolbox)
	s := compaction.Measure(a.state.Conversation)
	notes, sizes := noteSizes(a.state.Conversation)
	for _, of := range notes {
		s.User -= sizes[of]
	}
	type part struct {
		name string
		size int64
	}
	list := []part{
		{"instructions", instructions},
		{"tools", tools},
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
		if tokens := a.state.tokens(x.size); tokens > 0 {
			parts = append(parts, protocol.ContextPart{Name: x.name, Tokens: tokens})
		}
	}
	return parts
}

// contextSetting returns the setting of the strategy. The lock is held.
func (a *Agent) contextSetting() protocol.Setting {
	return protocol.Setting{
		ID: contextSetting, Name: "Context", Value: a.strategy(),
		Default: cmp.Or(a.options.Config.Context.Strategy, contextThreshold),
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
	info := protocol.ContextInfo{
		Tokens: a.state.Context, MaxTokens: b.Window, TranscriptLength: len(a.state.Conversation),
		Strategy: a.strategy(),
	}
	setPercent(&info)
	return info
}

func setPercent(info *protocol.ContextInfo) {
	if info.Percent = 0; info.MaxTokens > 0 {
		info.Percent = 100 * float64(info.Tokens) / float64(info.MaxTokens)
	}
}
