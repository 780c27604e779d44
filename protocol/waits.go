package protocol

import (
	"slices"
	"time"
)

// Waits are the requests of a turn for decisions of people. It is the one place that says which part
// of a time was work and which was waiting. The zero value has no requests, and nil is one.
type Waits struct{ requests map[string]*waitingRequest }

// A waitingRequest waits for a decision from its event to the event of the decision.
type waitingRequest struct {
	TurnPart
	from, to time.Time // zero: not known, or pending
}

// A TurnPart is a part of a turn: a tool call or a task, by its id. The zero value is the whole turn. A
// request that names none is one of every part. A call that runs a sub-agent, and the requests of that
// sub-agent, have its session.
type TurnPart struct{ Tool, Task, SubAgent string }

func newTurnPart(tool, task string, sub *SubAgent) TurnPart {
	p := TurnPart{Tool: tool, Task: task}
	if sub != nil {
		p.SubAgent = sub.Session
	}
	return p
}

// has reports whether a request of other makes the part wait.
func (p TurnPart) has(other TurnPart) bool {
	if p.Tool != "" && other.SubAgent != "" {
		return p.SubAgent == other.SubAgent
	}
	return (p.Tool == "" || other.Tool == "" || p.Tool == other.Tool) &&
		(p.Task == "" || other.Task == "" || p.Task == other.Task)
}

// Apply applies an event of the turn. It ignores data that cannot be decoded.
func (w *Waits) Apply(e *Event) {
	if e.Type != ApprovalRequested && e.Type != ApprovalResolved {
		return
	}
	var d struct {
		Request, Tool string
		SubAgent      *SubAgent `json:"sub_agent"`
	}
	if e.Decode(&d) != nil || d.Request == "" {
		return
	}
	r := w.request(d.Request)
	if e.Type == ApprovalResolved {
		r.to = e.Time
		return
	}
	r.TurnPart, r.from, r.to = newTurnPart(d.Tool, e.Task, d.SubAgent), e.Time, time.Time{}
}

// request returns the request with an id, which it adds if needed.
func (w *Waits) request(id string) *waitingRequest {
	if w.requests == nil {
		w.requests = map[string]*waitingRequest{}
	}
	r := w.requests[id]
	if r == nil {
		r = &waitingRequest{}
		w.requests[id] = r
	}
	return r
}

// AddPending adds the pending requests of the turn of a snapshot.
func (w *Waits) AddPending(s *State) {
	for i := range s.Approvals {
		if a := &s.Approvals[i]; a.Turn == s.Turn.Turn {
			*w.request(a.Request) = waitingRequest{TurnPart: newTurnPart(a.Tool, a.Task, a.SubAgent), from: a.Asked}
		}
	}
}

// Join adds the requests of earlier events of the same turn.
func (w *Waits) Join(before *Waits) {
	for id, earlier := range before.requests {
		if r := w.request(id); r.from.IsZero() {
			r.TurnPart, r.from = earlier.TurnPart, earlier.from
			if r.to.IsZero() {
				r.to = earlier.to
			}
		}
	}
}

// Pending reports whether a part waits for a decision.
func (w *Waits) Pending(of TurnPart) bool {
	if w != nil {
		for _, r := range w.requests {
			if r.to.IsZero() && of.has(r.TurnPart) {
				return true
			}
		}
	}
	return false
}

// Split splits the time of a part into work and waiting. Several requests at a time count once.
func (w *Waits) Split(of TurnPart, from, to time.Time) (work, waited time.Duration) {
	if !from.Before(to) {
		return 0, 0
	}
	if w != nil {
		waited = w.waited(of, from, to)
	}
	return to.Sub(from) - waited, waited
}

func (w *Waits) waited(of TurnPart, from, to time.Time) (waited time.Duration) {
	var spans []waitingRequest
	for _, r := range w.requests {
		if !r.from.IsZero() && of.has(r.TurnPart) {
			spans = append(spans, *r)
		}
	}
	slices.SortFunc(spans, func(a, b waitingRequest) int { return a.from.Compare(b.from) })
	for _, r := range spans {
		if r.from.After(from) {
			from = r.from
		}
		if r.to.IsZero() || r.to.After(to) {
			r.to = to
		}
		if r.to.After(from) {
			waited += r.to.Sub(from)
			from = r.to
		}
	}
	return waited
}
