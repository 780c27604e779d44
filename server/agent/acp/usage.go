package acp

import (
	"math"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
)

// cost is the cost of the ACP session so far, as reported by the agent.
type cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// applyUsage emits the context usage and the windows of the account, and records the cost.
func (c *client) applyUsage(u *update) {
	if u.Size > 0 {
		c.compactedTo(u.Used)
		c.emit(agent.Event{Type: protocol.ContextUpdated, Data: u.context()})
	}
	if report := u.Meta.Limits(); report != nil {
		if turn := c.lane.current(); turn != nil {
			turn.noteLimit(report)
		}
		if windows, changed := c.account.setWindows(report.Windows); changed {
			c.emit(agent.Event{Type: protocol.LimitsUpdated, Data: protocol.LimitsData{Windows: windows}})
		}
	}
	if u.Cost != nil {
		c.account.setCost(u.Cost)
	}
}

// context returns the context usage of an update.
func (u *update) context() protocol.ContextInfo {
	return protocol.ContextInfo{
		Tokens: u.Used, MaxTokens: u.Size, Percent: 100 * float64(u.Used) / float64(u.Size),
	}
}

// recordUsage adds the usage of a turn to the total of the session, and returns the end of the turn
// with its usage. Unknown usage stays unknown.
func (a *Agent) recordUsage(c *client, t *turn, result promptResult, end agent.End) agent.End {
	how := c.known().Usage
	report := result.Usage.Usage()
	if report == nil {
		how, report = catalog.PerTurn, result.Meta.Usage()
	}
	if report == nil {
		report = t.chunkUsage()
	}
	spent := c.account.takeCost()
	if report == nil && spent == nil {
		return end
	}
	var used, total protocol.Usage
	err := a.updateState(func(s *state) {
		used = s.countUsage(report, how)
		s.countCost(spent, &used)
		total = s.addUsage(used)
	})
	if used == (protocol.Usage{}) {
		return end
	}
	end.Usage = &used
	if err == nil {
		err = t.emit(protocol.UsageUpdated, total)
	}
	if err != nil {
		a.host.Logf("usage of %s: %v", a.config.Name, err)
	}
	return end
}

// countUsage returns the part of a report that belongs to the turn.
//
// Of an agent that is not known, reports are cumulative until a field falls without a restart of
// the agent. From then on they are per turn, for the rest of the session, and the total is
// corrected. So nothing is counted twice, and too little only while every turn needs more tokens
// than the one before.
func (s *state) countUsage(report *protocol.Usage, how catalog.UsageReports) protocol.Usage {
	if report == nil {
		return protocol.Usage{}
	}
	if how == catalog.PerTurn || s.PerTurn {
		return *report
	}
	last := s.Reported
	switch {
	case last == nil:
	case !fell(last.Tokens, *report):
		s.Reported = &reported{Tokens: *report, Sum: addTokens(last.Sum, *report, 1)}
		return addTokens(*report, last.Tokens, -1)
	case how == catalog.UsageUnknown && !last.Restarted:
		s.PerTurn, s.Reported = true, nil
		missing := addTokens(last.Sum, last.Tokens, -1)
		s.addUsage(missing)
		return *report
	}
	s.Reported = &reported{Tokens: *report, Sum: *report}
	return *report
}

// countCost adds the cost of the turn to its usage. Costs are cumulative. A cost below the last one
// counts from zero again: some agents forget it when they are killed.
func (s *state) countCost(spent *cost, used *protocol.Usage) {
	if spent == nil {
		return
	}
	if spent.Amount < s.Cost {
		s.Cost = 0
	}
	if d := roundCost(spent.Amount - s.Cost); d > 0 {
		used.Cost, used.Currency = d, spent.Currency
	}
	s.Cost = spent.Amount
}

// roundCost removes the error of a sum or difference of costs.
func roundCost(amount float64) float64 { return math.Round(amount*1e9) / 1e9 }

// restartUsage notes that a new process reports from now on. keeps: its ACP session is the previous
// one.
func (s *state) restartUsage(how catalog.UsageReports, keeps bool) {
	switch {
	case !keeps:
		s.Reported, s.Cost = nil, 0
	case how == catalog.Cumulative:
		s.Reported = nil
	case s.Reported != nil:
		r := *s.Reported
		r.Restarted = true
		s.Reported = &r
	}
}

// fell reports whether a field of b is below the same field of a.
func fell(a, b protocol.Usage) bool {
	return b.Input < a.Input || b.Output < a.Output || b.Cached < a.Cached || b.Reasoning < a.Reasoning
}

// addTokens returns a plus n times b.
func addTokens(a, b protocol.Usage, n int64) protocol.Usage {
	return protocol.Usage{
		Input: a.Input + n*b.Input, Output: a.Output + n*b.Output,
		Cached: a.Cached + n*b.Cached, Reasoning: a.Reasoning + n*b.Reasoning,
	}
}

// addChunkUsage adds the usage of a model call that came with a chunk.
func (t *turn) addChunkUsage(u *catalog.Tokens) {
	if u == nil {
		return
	}
	sum := *u.Usage()
	if t.usage != nil {
		sum = addTokens(*t.usage, sum, 1)
	}
	t.usage = &sum
}

// chunkUsage returns the sum of the usage that came with chunks, or nil.
func (t *turn) chunkUsage() *protocol.Usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.usage
}
