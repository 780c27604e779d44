package session

import (
	"slices"

	"agentctl/protocol"
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

// checkQueue returns an error if the queue, the scheduled messages and m are over the limits. A
// message with the id of m counts as m.
func (s *Session) checkQueue(m *protocol.Message) error {
	limits := s.hub.settings().Limits
	count, bytes := 1, messageSize(m)
	for _, list := range [][]protocol.Message{s.state.Queue, s.state.Scheduled} {
		for i := range list {
			if q := &list[i]; q.MessageID != m.MessageID {
				count++
				bytes += messageSize(q)
			}
		}
	}
	if count > limits.Queue {
		return &protocol.Error{
			Code: protocol.CodeQueueFull, Limit: int64(limits.Queue),
			Message: "the queue is full: wait, or remove messages from it",
		}
	}
	if bytes > limits.Bytes {
		return &protocol.Error{
			Code: protocol.CodeQueueFull, Limit: limits.Bytes,
			Message: "the messages in the queue are too large together: wait, or remove messages from it",
		}
	}
	return nil
}

// messageSize returns an upper bound of the encoded size of a message in bytes, at little cost.
func messageSize(m *protocol.Message) int64 {
	n := envelope + textSize(m.Text)
	for i := range m.Parts {
		p := &m.Parts[i]
		n += textSize(p.Text) + textSize(p.URL) + textSize(p.Name) + textSize(p.MediaType) + len(p.Data) + 256
	}
	return int64(n)
}

// textSize returns an upper bound of the encoded size of a text in bytes.
func textSize(s string) int {
	n := len(s)
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0xe2 {
			n += len(`\u0000`) - 1
		}
	}
	return n
}

// checkRule returns an error if one more rule is over the limits.
func (s *Session) checkRule(r *protocol.Rule) error {
	limits := s.hub.settings().Limits
	switch rules := append(slices.Clip(s.state.Rules), *r); {
	case len(rules) > limits.Rules:
		return &protocol.Error{
			Code: protocol.CodeTooMany, Limit: int64(limits.Rules),
			Message: "the session has too many rules: revoke some, or allow this request once",
		}
	case encodedSize(rules, limits.Bytes) > limits.Bytes:
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
		encodedSize(append(slices.Clip(s.state.Approvals), *a), room) <= room
}

// encodedSize returns the encoded size of a list in bytes. It stops counting above the limit.
func encodedSize[T any](list []T, limit int64) (n int64) {
	for i := range list {
		raw, _ := encode(list[i])
		n += int64(len(raw))
		if n > limit {
			break
		}
	}
	return n
}
