package llm

import (
	"cmp"
	"fmt"
	"math"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
)

// addUsage adds usage. The sum gets its model and its currency.
func addUsage(sum, u *protocol.Usage) {
	sum.Input += u.Input
	sum.Output += u.Output
	sum.Cached += u.Cached
	sum.Reasoning += u.Reasoning
	sum.Cost = roundCost(sum.Cost + u.Cost)
	sum.Model, sum.Currency = cmp.Or(u.Model, sum.Model), cmp.Or(u.Currency, sum.Currency)
}

// roundCost removes rounding errors of additions.
func roundCost(cost float64) float64 { return math.Round(cost*1e9) / 1e9 }

// countUsage adds the usage of a response to the turn and the session.
func (s *state) countUsage(u model.Usage, b *model.Backend) {
	used := protocol.Usage{
		Input: u.Input, Output: u.Output, Cached: u.Cached, Reasoning: u.Reasoning, Model: b.Origin(),
	}
	if b.Price != nil {
		used.Cost, used.Currency = b.Price.Cost(u), cmp.Or(b.Price.Currency, "USD")
	}
	s.count(1, &used)
}

// count adds the usage of requests to the turn and the session.
func (s *state) count(requests int, u *protocol.Usage) {
	s.Requests += requests
	addUsage(&s.Usage, u)
	if s.Turn != nil {
		s.Turn.Requests += requests
		addUsage(&s.Turn.Usage, u)
	}
}

// emitUsage emits the usage of the session and of the context.
func (t *turnRun) emitUsage(b *model.Backend) error {
	t.agent.mu.Lock()
	total := t.agent.state.Usage
	t.agent.mu.Unlock()
	if err := t.emit(protocol.UsageUpdated, total); err != nil {
		return err
	}
	return t.emit(protocol.ContextUpdated, t.agent.contextInfo(b))
}

// overBudget returns how a turn ends whose budget is used up.
func (a *Agent) overBudget() (end agent.End, over bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	turn, all := a.options.Config.Budget.Turn, a.options.Config.Budget.Session
	turn.Requests = cmp.Or(turn.Requests, defaultRequests)
	for _, x := range []struct {
		of       string
		limits   Limits
		requests int
		usage    protocol.Usage
	}{
		{"turn", turn, a.state.Turn.Requests, a.state.Turn.Usage},
		{"session", all, a.state.Requests, a.state.Usage},
	} {
		l, u := &x.limits, &x.usage
		switch {
		case l.Requests > 0 && x.requests >= l.Requests:
			return agent.End{
				Reason:  protocol.ReasonMaxRequests,
				Message: fmt.Sprintf("the budget of the %s is %d requests", x.of, l.Requests),
			}, true
		case l.Tokens > 0 && u.Input+u.Output >= l.Tokens:
			return agent.End{
				Reason:  protocol.ReasonMaxTokens,
				Message: fmt.Sprintf("the budget of the %s is %d tokens", x.of, l.Tokens),
			}, true
		case l.Cost > 0 && u.Cost >= l.Cost:
			return agent.End{
				Reason:  protocol.ReasonBudget,
				Message: fmt.Sprintf("the budget of the %s is %g %s", x.of, l.Cost, u.Currency),
			}, true
		}
	}
	return agent.End{}, false
}
