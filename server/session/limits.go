package session

import (
	"slices"

	"agentctl/protocol"
	"agentctl/server/session/queue"
	"agentctl/server/session/record"
)

// Limits bound the sessions of a server and what each holds. Zero values mean the defaults given.
// Together with the bounds of events they keep every snapshot below protocol.MaxResult.
type Limits struct {
	Sessions int   // of the server, closed ones included; 20,000
	Agents   int   // processes of agents at once; 500
	Queue    int   // messages in the queue of a session; 1,000
	Requests int   // pending requests of a session; 100
	Rules    int   // of a session; 500
	Bytes    int64 // of a session's queue, of its pending requests, and of its rules, each encoded; 4 MiB
	Disk     int64 // bytes of the store beyond which no message and no session is accepted; unlimited

	// LogMemory bounds the older events in memory, those beyond the newest MiB of each session; 64
	// MiB for all sessions. It is read once.
	LogMemory int64
}

func (l *Limits) defaults() {
	for _, n := range []struct {
		field *int
		value int
	}{{&l.Sessions, 20_000}, {&l.Agents, 500}, {&l.Queue, 1000}, {&l.Requests, 100}, {&l.Rules, 500}} {
		if *n.field == 0 {
			*n.field = n.value
		}
	}
	if l.LogMemory == 0 {
		l.LogMemory = 64 << 20
	}
	if l.Bytes == 0 {
		l.Bytes = 4 << 20
	}
}

// queue returns the limits of a session's queue.
func (l *Limits) queue() queue.Limits { return queue.Limits{Messages: l.Queue, Bytes: l.Bytes} }

// checkRule returns an error if one more rule is over the limits.
func (s *Session) checkRule(r *protocol.Rule) error {
	limits := s.hub.settings().Limits
	switch rules := append(slices.Clip(s.state.Rules), *r); {
	case len(rules) > limits.Rules:
		return &protocol.Error{
			Code: protocol.CodeTooMany, Limit: int64(limits.Rules),
			Message: "the session has too many rules: revoke some, or allow this request once",
		}
	case record.Size(rules, limits.Bytes) > limits.Bytes:
		return &protocol.Error{
			Code: protocol.CodeTooLarge, Limit: limits.Bytes,
			Message: "the rules of the session are too large together: revoke some, or allow this request once",
		}
	}
	return nil
}

// roomForRequest reports whether a further pending request is within the limits.
func (s *Session) roomForRequest(a *protocol.Approval) bool {
	limits := s.hub.settings().Limits
	room := limits.Bytes - protocol.MaxEvent // an explanation may follow
	return len(s.state.Approvals) < limits.Requests &&
		record.Size(append(slices.Clip(s.state.Approvals), *a), room) <= room
}
