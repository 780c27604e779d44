package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"agentctl/protocol"
)

// Limits bound what a turn or an attempt of a task uses; 0: no limit. Time does not include the
// wait for the confirmation of a plan.
type Limits struct {
	Time   Duration `json:"time"`   // such as 20m
	Calls  int      `json:"calls"`  // to models, as far as agents report each one's usage
	Tokens int64    `json:"tokens"` // of input and output
	Cost   float64  `json:"cost"`   // in the currency of the agents
}

// String returns the limits that are set, else "".
func (l *Limits) String() string {
	var set []string
	if l.Time > 0 {
		set = append(set, time.Duration(l.Time).String())
	}
	if l.Calls > 0 {
		set = append(set, fmt.Sprintf("%d calls", l.Calls))
	}
	if l.Tokens > 0 {
		set = append(set, fmt.Sprintf("%d tokens", l.Tokens))
	}
	if l.Cost > 0 {
		set = append(set, fmt.Sprintf("cost %g", l.Cost))
	}
	return strings.Join(set, ", ")
}

// A Duration is written in Go's form: 90s, 5m.
type Duration time.Duration

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// A limitError is the cause of a context that a limit canceled.
type limitError struct {
	reason  protocol.Reason // of the turn, if it is its limit
	message string
}

// code returns the code of a task that failed by a limit.
func (e *limitError) code() protocol.Code {
	if e.reason == protocol.ReasonTimeout {
		return protocol.CodeTimeout
	}
	return protocol.CodeAgentFailed
}

func (e *limitError) Error() string { return e.message }

// withTime returns a context that ends when the time is used up.
func (l *Limits) withTime(ctx context.Context, of string, used time.Duration) (context.Context, context.CancelFunc) {
	if l.Time == 0 {
		return ctx, func() {}
	}
	left := max(0, time.Duration(l.Time)-used)
	return context.WithTimeoutCause(ctx, left, &limitError{
		protocol.ReasonTimeout, fmt.Sprintf("the time of the %s is %v", of, time.Duration(l.Time)),
	})
}

// exceeded returns a limitError if more was used than the limits allow, else nil.
func (l *Limits) exceeded(of string, s *spending) error {
	switch u := &s.usage; {
	case l.Calls > 0 && s.calls > l.Calls:
		return &limitError{protocol.ReasonMaxRequests, fmt.Sprintf("the limit of the %s is %d calls", of, l.Calls)}
	case l.Tokens > 0 && u.Input+u.Output > l.Tokens:
		return &limitError{protocol.ReasonMaxTokens, fmt.Sprintf("the limit of the %s is %d tokens", of, l.Tokens)}
	case l.Cost > 0 && u.Cost > l.Cost:
		return &limitError{
			protocol.ReasonBudget, fmt.Sprintf("the limit of the %s is %g %s", of, l.Cost, u.Currency),
		}
	}
	return nil
}

// spending is the usage of agents, and the calls to models that they reported.
type spending struct {
	usage protocol.Usage
	calls int
}

func (s *spending) add(o spending) {
	s.usage = addUsage(s.usage, o.usage)
	s.calls += o.calls
}

// reported returns the usage, or nil if no agent reported one.
func (s *spending) reported() *protocol.Usage {
	if s.usage == (protocol.Usage{}) {
		return nil
	}
	return new(s.usage)
}

// addUsage returns the sum, with the model and currency that were reported last.
func addUsage(a, b protocol.Usage) protocol.Usage {
	a.Input += b.Input
	a.Output += b.Output
	a.Cached += b.Cached
	a.Reasoning += b.Reasoning
	a.Cost = math.Round((a.Cost+b.Cost)*1e9) / 1e9
	a.Currency = cmp.Or(b.Currency, a.Currency)
	a.Model = cmp.Or(b.Model, a.Model)
	return a
}
