package wsclient

import (
	"bytes"
	"encoding/json"

	"agentctl/protocol"
)

// A quick decoder reads events as protocol.Event.AppendJSON writes them, several times faster than any JSON would be read: the
// fields in their order, plain ASCII strings. It takes what it knows and leaves all else to protocol.DecodeIncoming. Strings that
// the last event had are shared with it.
type quick struct {
	rest []byte
	last *protocol.Event
}

// event returns the event in line, or nil when it is not written that way. The event keeps nothing of line.
func (q *quick) event(line []byte) *protocol.Event {
	last := q.last
	if last == nil {
		last = new(protocol.Event)
	}
	q.rest = line
	e := new(protocol.Event)
	var kind string
	ok := q.skip(`{"session":"`) && q.text(&e.Session, last.Session) &&
		(!q.skip(`,"seq":`) || q.number(&e.Seq)) &&
		(!q.skip(`,"first_seq":`) || q.number(&e.FirstSeq)) &&
		(!q.skip(`,"turn":"`) || q.text(&e.Turn, last.Turn)) &&
		(!q.skip(`,"task":"`) || q.text(&e.Task, last.Task)) &&
		(!q.skip(`,"parent":"`) || q.text(&e.Parent, last.Parent)) &&
		q.skip(`,"time":"`) && q.time(e) &&
		q.skip(`,"type":"`) && q.text(&kind, string(last.Type)) && kind != "" &&
		(!q.skip(`,"data":`) || q.data(e)) &&
		len(q.rest) == 1 && q.rest[0] == '}'
	if !ok {
		return nil
	}
	e.Type = protocol.Type(kind)
	q.last = e
	return e
}

func (q *quick) skip(prefix string) bool {
	if len(q.rest) < len(prefix) || string(q.rest[:len(prefix)]) != prefix {
		return false
	}
	q.rest = q.rest[len(prefix):]
	return true
}

// plain cuts off a string without escapes and its closing quote.
func (q *quick) plain() ([]byte, bool) {
	for i, c := range q.rest {
		switch {
		case c == '"':
			s := q.rest[:i]
			q.rest = q.rest[i+1:]
			return s, true
		case c < ' ' || c > '~' || c == '\\':
			return nil, false
		}
	}
	return nil, false
}

func (q *quick) text(field *string, last string) bool {
	s, ok := q.plain()
	if string(s) == last {
		*field = last
	} else {
		*field = string(s)
	}
	return ok
}

// number reads a number from 1 on that fits a uint64 with certainty.
func (q *quick) number(field *uint64) bool {
	var n uint64
	i := 0
	for ; i < len(q.rest) && q.rest[i] >= '0' && q.rest[i] <= '9'; i++ {
		n = n*10 + uint64(q.rest[i]-'0')
	}
	if i == 0 || i > 19 || q.rest[0] == '0' {
		return false
	}
	*field, q.rest = n, q.rest[i:]
	return true
}

func (q *quick) time(e *protocol.Event) bool {
	s, ok := q.plain()
	return ok && e.Time.UnmarshalText(s) == nil
}

// data takes the rest of the line but its closing brace, copied: an event that is kept must not keep the whole message.
func (q *quick) data(e *protocol.Event) bool {
	end := len(q.rest) - 1
	if end < 1 || q.rest[0] <= ' ' || q.rest[end-1] <= ' ' || !json.Valid(q.rest[:end]) {
		return false
	}
	e.Data, q.rest = bytes.Clone(q.rest[:end]), q.rest[end:]
	return true
}
