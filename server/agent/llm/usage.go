package llm

import (
	"fmt"
	"math"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
)

// addUsage adds the usage of a response.
func addUsage(sum *protocol.Usage, u model.Usage, b *model.Backend) {
	sum.Input += u.Input
	sum.Output += u.Output
	sum.Cached += u.Cached
	sum.Reasoning += u.Reasoning
	sum.Model = b.Origin()
	if b.Price == nil {
		return
	}
	sum.Cost = roundCost(sum.Cost + b.Price.Cost(u))
	sum.Currency = b.Price.Currency
	if sum.Currency == "" {
		sum.Currency = "USD"
	}
}

// roundCost removes rounding errors of additions.
func roundCost(cost float64) float64 { return math.Round(cost*1e9) / 1e9 }

// countUsage adds the usage of a response to the turn and the session.
func (s *state) countUsage(u model.Usage, b *model.Backend) {
	s.Requests++
	addUsage(&s.Usage, u, b)
	if s.Turn != nil {
		s.Turn.Requests++
		addUsage(&s.Turn.Usage, u, b)
	}
}

// emitUsage emits the usage of the session and of the context.
func (t *turnRun) emitUsage(b *model.Backend) error {
	t.agent.mu.Lock()
	total := t.agent.state.Usage
	t.agent.mu.Unlock()
	if err := t.out.Emit(agent.Event{Type: protocol.UsageUpdated, Data: total}); err != nil {
		return err
	}
	return t.out.Emit(agent.Event{Type: protocol.ContextUpdated, Data: t.agent.contextInfo(b)})
}

// overBudget returns how a turn ends whose budget is used up.
func (a *Agent) overBudget() (end agent.End, over bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	turn, all := a.options.Config.Budget.Turn, a.options.Config.Budget.Session
	if turn.Requests == 0 {
		turn.Requests = defaultRequests
	}
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
