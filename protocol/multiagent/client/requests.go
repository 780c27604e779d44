package client

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// A request is a message to the server that an error may answer.
type request struct {
	command  *protocol.Command // nil: internal
	verb     protocol.Verb
	deadline time.Time

	message  protocol.Message       // of send
	sent     transmission           // of send
	arrived  bool                   // of send: the server has it
	over     bool                   // of send: its turn has ended
	started  *turnStart             // of send: its turn began; nil: not yet
	created  *protocol.CreateResult // of send: the command created the session
	key      string                 // of the note; empty: none
	request  string                 // of approve
	decision protocol.Decision      // of approve
	reason   string                 // of approve
	turn     string                 // of interrupt
	queue    string                 // of interrupt
}

// A transmission is the newest sending of a user message.
type transmission struct {
	at    time.Time
	turns int // number of ended turns at that time
}

// resolution returns the resolution by an approve command.
func (r *request) resolution() protocol.ApprovalResolvedData {
	d := protocol.ApprovalResolvedData{
		Request: r.request, Outcome: protocol.Allowed, Decision: r.decision, Option: string(r.decision),
		Reason: r.reason,
	}
	if denies(r.decision) {
		d.Outcome = protocol.Denied
	}
	return d
}

func denies(d protocol.Decision) bool { return d == protocol.Deny || d == protocol.DenyStop }

// requests are the requests of a session in flight, in the order in which they were sent. An answer,
// an error or its deadline ends each.
type requests struct {
	inFlight []*request
	// updates means that agentctl's server was asked for the session's events on this connection
	updates bool
}

// full reports whether no more requests are accepted.
func (r *requests) full() bool { return len(r.inFlight) >= maxRequests }

// add adds a request in flight.
func (r *requests) add(req *request) { r.inFlight = append(r.inFlight, req) }

// remove removes a request. It returns false if it is not in flight.
func (r *requests) remove(req *request) bool {
	i := slices.Index(r.inFlight, req)
	if i < 0 {
		return false
	}
	r.inFlight = slices.Delete(r.inFlight, i, i+1)
	return true
}

// find returns the first request for a verb, or nil.
func (r *requests) find(verb protocol.Verb) *request {
	for _, req := range r.inFlight {
		if req.verb == verb {
			return req
		}
	}
	return nil
}

// takeAll removes and returns the requests for a verb.
func (r *requests) takeAll(verb protocol.Verb) (taken []*request) {
	r.inFlight = slices.DeleteFunc(r.inFlight, func(req *request) bool {
		if req.verb == verb {
			taken = append(taken, req)
		}
		return req.verb == verb
	})
	return taken
}

// unanswered returns the first request that an error may answer, or nil: not a message whose turn
// has started.
func (r *requests) unanswered() *request {
	for _, req := range r.inFlight {
		if req.started == nil {
			return req
		}
	}
	return nil
}

// decision returns the first decision that an error with a code may be about, or nil.
func (r *requests) decision(code string) *request {
	for _, req := range r.inFlight {
		if req.verb == protocol.DoApprove && denies(req.decision) == (code != wire.CodeExecuteFailed) {
			return req
		}
	}
	return nil
}

// decisionsOn returns the decisions about an approval request.
func (r *requests) decisionsOn(request string) (list []*request) {
	for _, req := range r.inFlight {
		if req.verb == protocol.DoApprove && req.request == request {
			list = append(list, req)
		}
	}
	return list
}

// takeKey removes and returns the request with a key, or nil.
func (r *requests) takeKey(key string) *request {
	for _, req := range r.inFlight {
		if key != "" && req.key == key {
			r.remove(req)
			return req
		}
	}
	return nil
}

// expired returns the requests past their deadline.
func (r *requests) expired(now time.Time) (late []*request) {
	for _, req := range r.inFlight {
		if !now.Before(req.deadline) {
			late = append(late, req)
		}
	}
	return late
}

// wakeBy schedules a Wake for the next deadline.
func (r *requests) wakeBy(out *codec.Output) {
	for _, req := range r.inFlight {
		out.WakeBy(req.deadline)
	}
}
