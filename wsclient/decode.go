package wsclient

import (
	"bytes"
	"encoding/json"

	"agentctl/protocol"
)

// An incoming is one line of the server. Exactly one of event, answer and err is set.
type incoming struct {
	event  *protocol.Event
	answer *protocol.Answer
	raw    []byte

	err         error  // the line cannot be decoded
	id, session string // of an invalid line, if they could be read
}

// decode decodes the lines of a message, up to the first invalid line that is not an answer. The
// result refers to the message's bytes.
func (d *fastDecoder) decode(message []byte) []incoming {
	lines := make([]incoming, 0, bytes.Count(message, []byte{'\n'})+1)
	for raw := range protocol.Lines(message) {
		in := incoming{raw: raw, event: d.decodeEvent(raw)}
		if in.event == nil {
			in.decodeJSON()
		}
		lines = append(lines, in)
		if in.err != nil && in.id == "" {
			break
		}
	}
	return lines
}

// decodeJSON decodes any form of a line.
func (in *incoming) decodeJSON() {
	var err error
	if in.event, in.answer, err = protocol.DecodeIncoming(in.raw); err == nil {
		return
	}
	in.err = newDecodeError(in.raw, err)
	var partial struct{ ID, Session string }
	_ = json.Unmarshal(in.raw, &partial) // best effort
	in.id, in.session = partial.ID, partial.Session
}

// decodeAnswer decodes the result of an answer. The error is the server's, or a *DecodeError.
func decodeAnswer(a *protocol.Answer, result any) error {
	if a.Error != nil {
		return a.Error
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return newDecodeError(a.Result, err)
	}
	return nil
}

// A fastDecoder decodes events in the exact form that protocol.Event.AppendJSON writes: known field
// order, plain ASCII strings. It is several times faster than a general JSON decoder. It rejects
// every other form, which protocol.DecodeIncoming then decodes. Strings equal to the last event's
// share its memory.
type fastDecoder struct {
	rest []byte
	last *protocol.Event
}

// decodeEvent returns the event in line, or nil if line has another form. The event keeps no
// reference to line.
func (d *fastDecoder) decodeEvent(line []byte) *protocol.Event {
	last := d.last
	if last == nil {
		last = new(protocol.Event)
	}
	d.rest = line
	e := new(protocol.Event)
	var kind string
	ok := d.skip(`{"session":"`) && d.text(&e.Session, last.Session) &&
		(!d.skip(`,"seq":`) || d.number(&e.Seq)) &&
		(!d.skip(`,"first_seq":`) || d.number(&e.FirstSeq)) &&
		(!d.skip(`,"turn":"`) || d.text(&e.Turn, last.Turn)) &&
		(!d.skip(`,"task":"`) || d.text(&e.Task, last.Task)) &&
		(!d.skip(`,"parent":"`) || d.text(&e.Parent, last.Parent)) &&
		d.skip(`,"time":"`) && d.time(e) &&
		d.skip(`,"type":"`) && d.text(&kind, string(last.Type)) && kind != "" &&
		(!d.skip(`,"data":`) || d.data(e)) &&
		len(d.rest) == 1 && d.rest[0] == '}'
	if !ok {
		return nil
	}
	e.Type = protocol.Type(kind)
	d.last = e
	return e
}

func (d *fastDecoder) skip(prefix string) bool {
	if len(d.rest) < len(prefix) || string(d.rest[:len(prefix)]) != prefix {
		return false
	}
	d.rest = d.rest[len(prefix):]
	return true
}

// plainString consumes a string without escapes and its closing quote.
func (d *fastDecoder) plainString() ([]byte, bool) {
	for i, c := range d.rest {
		switch {
		case c == '"':
			s := d.rest[:i]
			d.rest = d.rest[i+1:]
			return s, true
		case c < ' ' || c > '~' || c == '\\':
			return nil, false
		}
	}
	return nil, false
}

func (d *fastDecoder) text(field *string, last string) bool {
	s, ok := d.plainString()
	if string(s) == last {
		*field = last
	} else {
		*field = string(s)
	}
	return ok
}

// number consumes a positive decimal number of at most 19 digits, which fits a uint64.
func (d *fastDecoder) number(field *uint64) bool {
	var n uint64
	i := 0
	for ; i < len(d.rest) && d.rest[i] >= '0' && d.rest[i] <= '9'; i++ {
		n = n*10 + uint64(d.rest[i]-'0')
	}
	if i == 0 || i > 19 || d.rest[0] == '0' {
		return false
	}
	*field, d.rest = n, d.rest[i:]
	return true
}

func (d *fastDecoder) time(e *protocol.Event) bool {
	s, ok := d.plainString()
	return ok && e.Time.UnmarshalText(s) == nil
}

// data consumes the rest of the line up to its closing brace. It copies the bytes, so that a
// retained event does not retain its whole message.
func (d *fastDecoder) data(e *protocol.Event) bool {
	end := len(d.rest) - 1
	if end < 1 || d.rest[0] <= ' ' || d.rest[end-1] <= ' ' || !json.Valid(d.rest[:end]) {
		return false
	}
	e.Data, d.rest = bytes.Clone(d.rest[:end]), d.rest[end:]
	return true
}
