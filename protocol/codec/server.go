package codec

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
)

// A ServerBase is the part that the server ends of all dialects share: it sends native commands,
// pairs their answers and sends frames. A server codec embeds it and calls Run from each method of
// Codec.
//
// Hello, Request and Send write to Out, so call them only within Run.
type ServerBase struct {
	Options    ServerOptions // static after construction
	Requests   Requests
	Connection string // the connection's id at agentctl's server; empty before the answer to hello

	// Set during a call.

	Now time.Time
	Out *Output
}

// Run carries out one call of a codec and returns the output.
func (b *ServerBase) Run(now time.Time, work func()) Output {
	var out Output
	b.Now, b.Out = now, &out
	work()
	b.Out = nil
	return out
}

// Hello greets agentctl's server in the name of a dialect's client, and learns the connection's id
// from the answer.
func (b *ServerBase) Hello(dialect string) {
	hello := protocol.HelloData{Version: protocol.Version, Name: b.Options.By.Name, Agent: dialect}
	b.Request(protocol.DoHello, "", "", hello, func(a protocol.Answer) {
		r, _ := DecodeResult[protocol.HelloResult](a)
		b.Connection = r.Connection
	})
}

// Request sends a native command. then, unless nil, gets the answer. data may be nil; an empty key
// means none.
func (b *ServerBase) Request(verb protocol.Verb, session, key string, data any, then func(protocol.Answer)) {
	b.Requests.Do(b.Out, verb, session, key, data, then)
}

// Receive decodes a line of agentctl's server. It passes an answer to its request, and returns an
// event.
func (b *ServerBase) Receive(line []byte) *protocol.Event { return b.Requests.Receive(line) }

// Send sends foreign frames.
func (b *ServerBase) Send(frames ...Frame) { b.Out.Foreign = append(b.Out.Foreign, frames...) }

// Unsubscribed reports whether an event ends this connection's subscription to the event's session,
// and why: no_session if the session was deleted.
func (b *ServerBase) Unsubscribed(e *protocol.Event) (why protocol.Code, ended bool) {
	switch e.Type {
	case protocol.SummaryChanged:
		var d protocol.Summary
		if e.Decode(&d) == nil && d.Deleted {
			return protocol.CodeNoSession, true
		}
	case protocol.ClientDetached:
		var d protocol.Client
		if e.Decode(&d) == nil && d.Client == b.Connection && d.Reason != "" {
			return protocol.Code(d.Reason), true
		}
	}
	return "", false
}

// DecodeResult decodes the result of an answer. The error is the answer's, or internal if the
// result cannot be decoded.
func DecodeResult[T any](a protocol.Answer) (result T, err *protocol.Error) {
	switch {
	case a.Error != nil:
		return result, a.Error
	case json.Unmarshal(a.Result, &result) != nil:
		return result, protocol.Errorf(protocol.CodeInternal, "internal error")
	}
	return result, nil
}

// DecodeEvent decodes the data of an event of agentctl's server.
func DecodeEvent[T any](e *protocol.Event) *T {
	data := new(T)
	_ = json.Unmarshal(e.Data, data)
	return data
}

// A Subscription is a session that a server codec follows: the state up to the last event applied.
type Subscription struct {
	Session  string
	Epoch    string
	State    *protocol.State // nil before Start
	CaughtUp bool            // the event caught_up came
}

// Start takes the answer to subscribe. It reports whether the subscription resumes from its
// position; if not, State is the snapshot's.
func (s *Subscription) Start(r *protocol.SubscribeResult) (resumed bool) {
	resumed = s.State != nil && s.Session == r.Session && r.Mode == protocol.ModeResume
	s.Session, s.Epoch, s.CaughtUp = r.Session, r.After.Epoch, false
	if !resumed {
		s.State = InitialState(r)
	}
	return resumed
}

// Position returns the position to resume from; nil before Start.
func (s *Subscription) Position() *protocol.Position {
	if s.State == nil {
		return nil
	}
	return &protocol.Position{Epoch: s.Epoch, Seq: s.State.Seq}
}

// Known reports whether the state includes a durable event already.
func (s *Subscription) Known(e *protocol.Event) bool { return e.Seq <= s.State.Seq }

// Contiguous reports whether a durable event is the next one after the state.
func (s *Subscription) Contiguous(e *protocol.Event) bool { return e.First() == s.State.Seq+1 }

// Apply applies a durable event, after a gap too. It skips an event that the state does not accept
// and returns false.
func (s *Subscription) Apply(e *protocol.Event) bool {
	if !s.Contiguous(e) {
		s.State.Seq = e.First() - 1
	}
	if s.State.Apply(e) != nil {
		s.State.Seq = e.Seq
		return false
	}
	return true
}

// InitialState returns the state at which a subscription's events begin: the snapshot's, or an
// empty one.
func InitialState(r *protocol.SubscribeResult) *protocol.State {
	if r.Snapshot != nil && r.Snapshot.State != nil {
		return r.Snapshot.State
	}
	return &protocol.State{Session: r.Session, Seq: r.After.Seq}
}
