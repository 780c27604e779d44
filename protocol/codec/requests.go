package codec

import (
	"strconv"

	"agentctl/protocol"
)

// Requests sends the native commands of a server codec and pairs their answers. The zero value is
// ready.
type Requests struct {
	last    uint64
	pending map[string]func(protocol.Answer)
}

// Do sends a command. then, unless nil, gets the answer. data may be nil. key makes a command that
// changes state idempotent; empty: none.
func (r *Requests) Do(out *Output, verb protocol.Verb, session, key string, data any, then func(protocol.Answer)) {
	r.last++
	c := protocol.Command{ID: strconv.FormatUint(r.last, 10), Command: verb, Session: session, Key: key}
	if data != nil {
		c.Data = protocol.MustEncode(data)
	}
	if then == nil {
		then = func(protocol.Answer) {}
	}
	if r.pending == nil {
		r.pending = map[string]func(protocol.Answer){}
	}
	r.pending[c.ID] = then
	out.Native = append(out.Native, protocol.MustEncode(c))
}

// Receive decodes a line of agentctl's server. It passes an answer to its request, and returns an
// event.
func (r *Requests) Receive(line []byte) *protocol.Event {
	e, a, err := protocol.DecodeIncoming(line)
	if err != nil || e != nil {
		return e
	}
	if then := r.pending[a.ID]; then != nil {
		delete(r.pending, a.ID)
		then(*a)
	}
	return nil
}

// Pending returns the number of commands without an answer. A codec bounds it.
func (r *Requests) Pending() int { return len(r.pending) }
