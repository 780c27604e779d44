package session

import (
	"context"
	"encoding/json"

	"agentctl/protocol"
)

// A Caller is who a command comes from.
type Caller struct {
	By   protocol.Actor
	Conn string // the connection's id, for edit holds
}

const maxActor = 512 // bytes of a name and subject, which are in every event that a person causes

// Do carries out a command about sessions. reply is called exactly once, at any time and on any goroutine, when
// everything that the answer tells is visible; it must not block. What connections themselves are asked (hello, subscribe,
// unsubscribe, ack, watch, ping) is not for Do.
func (h *Hub) Do(ctx context.Context, c *protocol.Command, who Caller, reply func(json.RawMessage, error)) {
	if err := h.do(ctx, c, who, reply); err != nil {
		reply(nil, err)
	}
}

func (h *Hub) do(ctx context.Context, c *protocol.Command, who Caller, reply func(json.RawMessage, error)) error {
	if len(who.By.Name)+len(who.By.Subject) > maxActor {
		return &protocol.Error{Code: protocol.CodeTooLarge, Limit: maxActor, Message: "the name and subject of who acts are too long"}
	}
	t := protocol.CommandOf(c.Command)
	data := t.Data()
	if err := c.DecodeData(data); err != nil {
		return err
	}
	a := &action{verb: c.Command, data: data, by: who.By, conn: who.Conn, reply: reply}
	if t.Changes && c.Key != "" {
		a.key, a.hash = c.Key, hashOf(c)
	}
	now := func(result any, err error) error {
		if err == nil {
			reply(protocol.MustEncode(result), nil)
		}
		return err
	}
	switch d := data.(type) {
	case *protocol.ListData:
		return now(protocol.ListResult{Sessions: h.List(d.Closed)}, nil)
	case *protocol.HistoryData:
		return now(h.history(ctx, c.Session, d))
	case *protocol.BlobData:
		return now(h.blob(ctx, c.Session, d))
	case *protocol.SearchData:
		return h.search(c.Session, d, reply)
	case *protocol.CreateData:
		return h.once(ctx, a, func() error { return h.create(a, d) })
	case *protocol.RestoreData:
		return h.once(ctx, a, func() error { return h.restore(a, d) })
	}
	err := h.with(ctx, c.Session, func(s *Session) { s.do(a) })
	if a.key != "" && protocol.CodeOf(err) == protocol.CodeNoSession { // deleted by this very command, it may be
		return h.once(ctx, a, func() error { return err })
	}
	return err
}

// Attach lets a peer follow a session; see Session.attach. reply is called exactly once and must not block.
func (h *Hub) Attach(ctx context.Context, name string, p Subscriber, d *protocol.SubscribeData, reply func(*Attachment, error)) {
	if err := h.with(ctx, name, func(s *Session) { s.attach(p, d, reply) }); err != nil {
		reply(nil, err)
	}
}

// Detach ends what Attach began; reason is told to the other followers. A session that is not in memory has no followers.
func (h *Hub) Detach(id, conn, reason string) {
	h.mu.Lock()
	r := h.rows[id]
	h.mu.Unlock()
	if r == nil {
		return
	}
	r.load.Lock()
	s := r.session
	r.load.Unlock()
	if s != nil {
		s.post(func() { s.detach(conn, reason) })
	}
}
