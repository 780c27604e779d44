package acp

import (
	"agentctl/protocol"
	"agentctl/server/session"
)

// cost is the cumulative cost of the ACP session, as reported by the agent.
type cost struct {
	known    bool
	sum      float64
	billed   float64 // part of sum assigned to ended turns
	currency string
}

// applyUsage emits the context usage and records the cost.
func (c *client) applyUsage(u *update) {
	if u.Size > 0 {
		data := protocol.ContextInfo{
			Tokens: u.Used, MaxTokens: u.Size, Percent: 100 * float64(u.Used) / float64(u.Size),
		}
		if err := c.host.Emit(session.Event{Type: protocol.ContextUpdated, Data: data}); err != nil {
			c.host.Logf("context of %s: %v", c.config.Name, err)
		}
	}
	if u.Cost == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	total := &c.cost
	if !total.known && c.restored {
		total.billed = u.Cost.Amount // cost of earlier turns, already recorded
	}
	total.known, total.sum, total.currency = true, u.Cost.Amount, u.Cost.Currency
}

// addCost adds the cost of the turn to its end.
func (c *client) addCost(end session.End) session.End {
	c.mu.Lock()
	defer c.mu.Unlock()
	total := &c.cost
	if total.sum <= total.billed {
		return end
	}
	u := protocol.Usage{}
	if end.Usage != nil {
		u = *end.Usage
	}
	u.Cost, u.Currency = total.sum-total.billed, total.currency
	total.billed = total.sum
	end.Usage = &u
	return end
}

// tokenUsage returns the token usage of the turn, or nil if the agent reports none.
func (r *promptResult) tokenUsage() *protocol.Usage {
	if u := r.Usage; u != nil {
		return &protocol.Usage{Input: u.Input, Output: u.Output, Cached: u.Cached, Reasoning: u.Reasoning}
	}
	if q := r.Meta.Quota.Tokens; q.Input != 0 || q.Output != 0 {
		return &protocol.Usage{Input: q.Input, Output: q.Output}
	}
	return nil
}
