package server

import (
	"context"
	"encoding/json"
	"sync"

	"agentctl/protocol"
	"agentctl/server/history"
	"agentctl/server/session"
	"agentctl/server/session/confinement"
)

// do runs a command that holds a slot: a command of the connection here, one of the past by the
// history reader, any other by the hub.
func (c *conn) do(cmd *protocol.Command) {
	ctx := c.closing.ctx
	reply := func(result json.RawMessage, err error) { c.answer(cmd.ID, result, err) }
	switch cmd.Command {
	case protocol.DoHello:
		reply(run(cmd, c.hello))
	case protocol.DoPing:
		reply(run(cmd, func(d *protocol.Empty) (*protocol.Empty, error) { return d, nil }))
	case protocol.DoWatch:
		reply(run(cmd, c.watch))
	case protocol.DoUnsubscribe:
		reply(run(cmd, func(d *protocol.Empty) (*protocol.Empty, error) { return d, c.handleUnsubscribe(cmd.Session) }))
	case protocol.DoSubscribe:
		d := new(protocol.SubscribeData)
		if err := cmd.DecodeData(d); err != nil {
			reply(nil, err)
			return
		}
		c.handleSubscribe(ctx, cmd.Session, d, reply)
	default:
		who := session.Caller{By: c.Actor(), Conn: c.id, Agent: c.caller.agent, Grant: c.caller.grant, Notify: c.Notify}
		c.server.run(ctx, cmd, &c.caller, who, reply)
	}
}

// run runs a command that is not one of a connection: one of the past by the history reader, any
// other by the hub. It calls reply exactly once; reply must not block.
func (s *Server) run(
	ctx context.Context, cmd *protocol.Command, from *caller, who session.Caller, reply func(json.RawMessage, error),
) {
	switch {
	case cmd.Command == protocol.DoList && from.scope() != "":
		reply(run(cmd, func(d *protocol.ListData) (protocol.ListResult, error) { return s.listScope(from, d), nil }))
	case history.Handles(cmd.Command):
		s.history.Do(ctx, cmd, reply)
	default:
		s.hub.Do(ctx, cmd, who, reply)
	}
}

// checkResult returns an error for a result that does not fit an answer.
func checkResult(result json.RawMessage) error {
	if len(result) <= protocol.MaxResult {
		return nil
	}
	return protocol.Exceeded(protocol.CodeTooLarge, protocol.MaxResult, "the answer is too large")
}

// run decodes a command's data, calls f with it and encodes the result.
func run[D, R any](cmd *protocol.Command, f func(*D) (R, error)) (json.RawMessage, error) {
	d := new(D)
	if err := cmd.DecodeData(d); err != nil {
		return nil, err
	}
	r, err := f(d)
	if err != nil {
		return nil, err
	}
	return protocol.MustEncode(r), nil
}

const maxClientName = 128 // bytes of a user's or a client program's name

func (c *conn) hello(d *protocol.HelloData) (*protocol.HelloResult, error) {
	if d.Version != "" && d.Version != protocol.Version {
		return nil, protocol.Errorf(protocol.CodeUnsupported,
			"this server speaks %s, not %.20q", protocol.Version, d.Version)
	}
	if len(d.Name) > maxClientName || len(d.Agent) > maxClientName {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "name, agent: at most %d bytes", maxClientName)
	}
	limits := c.server.limits.Load()
	var window int64
	if d.Acks {
		window = d.Window
		if window <= 0 {
			window = protocol.DefaultWindow
		}
		window = min(window, limits.Window)
	}
	c.setWindow(window)
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.Name != "" && c.user.Subject == "" { // a verified name cannot be changed
		c.user.Name = protocol.ValidText(d.Name)
	}
	c.program = protocol.ValidText(d.Agent)
	r := &protocol.HelloResult{
		Version: protocol.Version, Server: c.server.version, Connection: c.id, By: c.user,
		Agents: c.server.agents.Names(),
		Role:   c.caller.role,
		Limits: protocol.Limits{
			Message: limits.Message, Event: protocol.MaxEvent, InFlight: cap(c.slots), FoldMS: maxFold.Milliseconds(),
			HistoryBytes: protocol.MaxHistory,
		},
		Window: window, HeartbeatMS: limits.Heartbeat.Milliseconds(),
	}
	if c.caller.role != protocol.RoleAgent && c.caller.role.May(protocol.DoCreate) {
		r.Sandbox = confinement.Offer(c.server.agents)
	}
	for _, t := range protocol.Commands {
		if c.caller.role.May(t.Verb) && inScope(c.caller.scope(), &t) {
			r.Commands = append(r.Commands, t.Verb)
		}
	}
	return r, nil
}

func (c *conn) watch(d *protocol.WatchData) (r protocol.ListResult, _ error) {
	if d.Off {
		c.server.hub.Sessions().Unwatch(c)
		r.Sessions = []protocol.Summary{}
	} else {
		r.Sessions = c.server.hub.Sessions().Watch(c)
	}
	return r, nil
}

// handleSubscribe subscribes to a session and replaces an older subscription. Events of the old one
// come before the answer, events of the new one after it.
func (c *conn) handleSubscribe(
	ctx context.Context, name string, d *protocol.SubscribeData, reply func(json.RawMessage, error),
) {
	c.attaching.Add(1)
	done := sync.OnceFunc(c.attaching.Done)
	defer func() {
		if r := recover(); r != nil {
			done()
			panic(r)
		}
	}()
	c.server.hub.Attach(ctx, name, c, d, func(at *session.Attachment, err error) {
		defer done()
		if err != nil {
			reply(nil, err)
			return
		}
		sub := &subscription{
			session: at.Result.Session, log: at.Log, raw: d.Raw, after: at.Result.After.Seq, upto: at.Result.Position,
			fold: newFold(d),
		}
		sub.acked = sub.after
		c.unsubscribe(sub.session)
		reply(protocol.MustEncode(at.Result), nil)
		c.subscribe(sub)
	})
}

func (c *conn) handleUnsubscribe(name string) error {
	c.attaching.Wait() // for an earlier subscribe
	id, err := c.resolve(name)
	if err != nil {
		return err
	}
	if !c.unsubscribe(id) {
		return protocol.Errorf(protocol.CodeNotSubscribed, "this connection is not subscribed to session %s", id)
	}
	c.server.hub.Detach(id, c.id, "")
	return nil
}

// handleAck notes the position that the client has received. An ack for a session without a
// subscription is not an error.
func (c *conn) handleAck(cmd *protocol.Command) error {
	d := new(protocol.AckData)
	if err := cmd.DecodeData(d); err != nil {
		return err
	}
	id, err := c.resolve(cmd.Session)
	if err != nil {
		return err
	}
	c.ack([]byte(id), d.Seq)
	return nil
}

// resolve returns the id of a session. The id of a subscribed session is valid even when the
// session was deleted.
func (c *conn) resolve(name string) (string, error) {
	if c.subscribed(name) {
		return name, nil
	}
	return c.server.hub.Sessions().Resolve(name)
}
