package session

import (
	"context"
	"encoding/json"

	"agentctl/protocol"
	"agentctl/server/session/idempotency"
	"agentctl/server/session/record"
)

// A Caller is the sender of a command.
type Caller struct {
	By    protocol.Actor
	Conn  string // id of the connection, for edit holds
	Agent string // the session whose agent it is; empty: a user

	// Grant returns what is kept of the sender's credential with a choice that acts later in the
	// sender's name, for System.Permits. nil: the sender needed no credential.
	Grant func() json.RawMessage

	// Notify sends the connection an ephemeral event while its command waits, as
	// presence.Subscriber.Notify; nil: no connection.
	Notify func(key string, line []byte)
}

// Do runs a command about sessions. It calls reply exactly once, at any time and on any goroutine,
// when everything that the answer reports is visible; reply must not block. Commands of a
// connection (hello, subscribe, unsubscribe, ack, watch, ping) and of the past (history, blob,
// search) are answered unsupported.
func (h *Hub) Do(ctx context.Context, c *protocol.Command, who Caller, reply func(json.RawMessage, error)) {
	if err := h.do(ctx, c, who, reply); err != nil {
		reply(nil, err)
	}
}

func (h *Hub) do(ctx context.Context, c *protocol.Command, who Caller, reply func(json.RawMessage, error)) error {
	if len(who.By.Name)+len(who.By.Subject) > record.MaxActor {
		return protocol.Exceeded(protocol.CodeTooLarge, record.MaxActor, "actor: name and subject are too long")
	}
	t := protocol.CommandOf(c.Command)
	data := t.Data()
	if err := c.DecodeData(data); err != nil {
		return err
	}
	if who.Agent != "" {
		caller := agentCaller{h, who.Agent}
		if err := caller.check(c, data); err != nil {
			return err
		}
	}
	cmd := &command{who, idempotency.Command{Answer: reply}, c.Command, data}
	if t.Changes && c.Key != "" {
		forked := ""
		if c.Command == protocol.DoFork {
			forked = c.Session // its name, unless a session has it
			if id, err := h.list.Resolve(c.Session); err == nil {
				forked = id
			}
		}
		cmd.Key, cmd.Hash = c.Key, hashCommand(c, data, forked, h.cfg.EnvKey)
	}
	once := func(run func() error) error { // makes a session, or fails
		cmd.Makes = true
		first := cmd.Command
		return h.keys.Run(ctx, &first, func(answer func(json.RawMessage, error)) error {
			cmd.Answer = answer
			return run()
		})
	}
	switch d := data.(type) {
	case *protocol.ListData:
		reply(protocol.MustEncode(protocol.ListResult{Sessions: h.list.List(d.Closed)}), nil)
		return nil
	case *protocol.CreateData:
		return once(func() error { return h.create(cmd, d, nil) })
	case *protocol.ImportData:
		return once(func() error { return h.importLog(cmd, d) })
	case *protocol.RestoreData:
		return once(func() error { return h.restore(cmd, d) })
	case *protocol.ForkData:
		return once(func() error { return h.fork(ctx, cmd, c.Session, d) })
	}
	if handlers[c.Command] == nil {
		return protocol.Errorf(protocol.CodeUnsupported, "%s is not a command for a session", c.Command)
	}
	err := h.ask(ctx, c.Session, func(s *Session) { s.do(cmd) }, func(err error) { reply(nil, err) })
	if cmd.Key != "" && protocol.CodeOf(err) == protocol.CodeNoSession { // this very command may have deleted it
		return once(func() error { return err })
	}
	return err
}

// Attach subscribes to a session; see Session.attach. It calls reply exactly once; reply must not
// block.
func (h *Hub) Attach(
	ctx context.Context, name string, sub Subscriber, d *protocol.SubscribeData, reply func(*Attachment, error),
) {
	refuse := func(err error) { reply(nil, err) }
	if err := h.ask(ctx, name, func(s *Session) { s.attach(sub, d, reply) }, refuse); err != nil {
		reply(nil, err)
	}
}

// Detach ends a subscription; other subscribers are sent the reason. A session that is not in
// memory has no subscribers.
func (h *Hub) Detach(id, conn, reason string) {
	if s := h.list.Loaded(id); s != nil {
		detach := func() { s.detach(conn, reason) }
		_, _ = s.mail.ask(context.Background(), request{detach, func(error) { detach() }})
	}
}
