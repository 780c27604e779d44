package acp

import (
	"agentctl/protocol"
	"agentctl/server/session"
)

// cost is what the conversation has cost, as the agent tells it: a sum that only grows.
type cost struct {
	known    bool
	sum      float64
	billed   float64 // of sum, in the turns that have ended
	currency string
}

// applyUsage takes how full the context is and what the conversation has cost.
func (l *client) applyUsage(u *update) {
	if u.Size > 0 {
		data := protocol.ContextInfo{Tokens: u.Used, MaxTokens: u.Size, Percent: 100 * float64(u.Used) / float64(u.Size)}
		if err := l.host.Emit(session.Event{Type: protocol.ContextUpdated, Data: data}); err != nil {
			l.host.Logf("context of %s: %v", l.config.Name, err)
		}
	}
	if u.Cost == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &l.cost
	if !c.known && l.resumed {
		c.billed = u.Cost.Amount // the turns before were another server's to bill
	}
	c.known, c.sum, c.currency = true, u.Cost.Amount, u.Cost.Currency
}

// addCost adds to a turn's end what the turn has cost.
func (l *client) addCost(end session.End) session.End {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &l.cost
	if c.sum <= c.billed {
		return end
	}
	u := protocol.Usage{}
	if end.Usage != nil {
		u = *end.Usage
	}
	u.Cost, u.Currency = c.sum-c.billed, c.currency
	c.billed = c.sum
	end.Usage = &u
	return end
}

// tokenUsage is what the agent says that a turn has used.
func (r *promptResult) tokenUsage() *protocol.Usage {
	if u := r.Usage; u != nil {
		return &protocol.Usage{Input: u.Input, Output: u.Output, Cached: u.Cached, Reasoning: u.Reasoning}
	}
	if q := r.Meta.Quota.Tokens; q.Input != 0 || q.Output != 0 {
		return &protocol.Usage{Input: q.Input, Output: q.Output}
	}
	return nil
}
