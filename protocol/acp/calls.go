package acp

import (
	"encoding/json"
	"strconv"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// calls are the requests to the client without an answer.
type calls struct {
	last    int
	waiting map[string]*call // by id
}

// A call is a request to the client.
type call struct {
	id   string
	then func(result json.RawMessage)
}

// send sends a request. then gets the result; it is not called for an error, or after withdraw.
func (s *calls) send(c *client, method string, params object, then func(json.RawMessage)) *call {
	s.last++
	v := &call{id: "agentctl-" + strconv.Itoa(s.last), then: then}
	if s.waiting == nil {
		s.waiting = map[string]*call{}
	}
	s.waiting[v.id] = v
	c.write(&rpcMessage{ID: protocol.MustEncode(v.id), Method: method, Params: params})
	return v
}

// waits reports whether a call has no answer.
func (s *calls) waits(v *call) bool { return v != nil && s.waiting[v.id] == v }

// withdraw tells the client that an answer is not needed any more.
func (s *calls) withdraw(c *client, v *call) {
	if s.waits(v) {
		delete(s.waiting, v.id)
		c.notify("$/cancel_request", object{"requestId": v.id})
	}
}

// handle carries out an answer of the client.
func (s *calls) handle(m *received) {
	v := s.waiting[codec.String(m.ID)]
	if v == nil {
		return
	}
	delete(s.waiting, v.id)
	if codec.IsNull(m.Error) {
		v.then(m.Result)
	}
}
