package catalog

import "agentctl/protocol"

// Tokens is a count of tokens in the form of ACP.
type Tokens struct {
	Input     int64 `json:"inputTokens"`
	Output    int64 `json:"outputTokens"`
	Cached    int64 `json:"cachedReadTokens"`
	Written   int64 `json:"cachedWriteTokens"`
	Reasoning int64 `json:"thoughtTokens"`
	Total     int64 `json:"totalTokens"`
}

// Usage returns the tokens as usage, or nil. The input includes cached tokens: some agents count
// them separately, as their total shows.
func (t *Tokens) Usage() *protocol.Usage {
	if t == nil {
		return nil
	}
	u := &protocol.Usage{Input: t.Input, Output: t.Output, Cached: t.Cached, Reasoning: t.Reasoning}
	if cached := t.Cached + t.Written; t.Total == t.Input+t.Output+cached {
		u.Input += cached
	}
	return u
}
