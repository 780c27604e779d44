package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
)

// cancelMethod is the notification by which a peer withdraws its request.
const cancelMethod = "$/cancel_request"

// CodeCancelled is the error code of the answer to a withdrawn request.
const CodeCancelled = -32800

type cancelParams struct {
	ID json.RawMessage `json:"requestId"`
}

// open notes a request of the peer until it is answered.
func (c *Conn) open(m message) *Request {
	r := &Request{Method: m.Method, Params: m.Params, id: m.ID, conn: c}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closeErr != nil {
		r.cancel()
		return r
	}
	c.incoming[string(m.ID)] = r
	return r
}

// close forgets a request that is answered.
func (c *Conn) close(r *Request) {
	r.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if id := string(r.id); c.incoming[id] == r {
		delete(c.incoming, id)
	}
}

// cancelIncoming ends the context of a request that the peer withdraws. It must be answered still.
func (c *Conn) cancelIncoming(params json.RawMessage) {
	var p cancelParams
	if json.Unmarshal(params, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.incoming[string(bytes.TrimSpace(p.ID))]; r != nil {
		r.cancel()
	}
}

// withdraw reports to the peer that nothing waits for the answer to a request. If the peer does not read,
// it is not told.
func (c *Conn) withdraw(id int64) {
	b, _ := json.Marshal(outgoing{
		Version: "2.0", Method: cancelMethod, Params: cancelParams{strconv.AppendInt(nil, id, 10)},
	})
	select {
	case c.outgoing <- append(b, '\n'):
	default:
	}
}
