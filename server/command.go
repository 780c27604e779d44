package server

import (
	"context"
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/server/session"
)

// do carries out a command that took a slot: what the connection itself is asked here, the rest by the hub.
func (c *conn) do(cmd *protocol.Command) {
	ctx := context.Background()
	reply := func(result json.RawMessage, err error) { c.settle(cmd.ID, result, err) }
	switch cmd.Command {
	case protocol.DoHello:
		reply(own(cmd, c.hello))
	case protocol.DoPing:
		reply(own(cmd, func(d *protocol.Empty) (*protocol.Empty, error) { return d, nil }))
	case protocol.DoWatch:
		reply(own(cmd, c.watch))
	case protocol.DoUnsubscribe:
		reply(own(cmd, func(d *protocol.Empty) (*protocol.Empty, error) { return d, c.unsubscribe(cmd.Session) }))
	case protocol.DoSubscribe:
		d := new(protocol.SubscribeData)
		if err := cmd.DecodeData(d); err != nil {
			reply(nil, err)
			return
		}
		c.subscribe(ctx, cmd.Session, d, reply)
	default:
		c.server.hub.Do(ctx, cmd, session.Caller{By: c.Actor(), Conn: c.id}, reply)
	}
}

// own answers a command by f.
func own[D, R any](cmd *protocol.Command, f func(*D) (R, error)) (json.RawMessage, error) {
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

const maxPerson = 128 // bytes of a person's or a program's name

func (c *conn) hello(d *protocol.HelloData) (*protocol.HelloResult, error) {
	if d.Version != "" && d.Version != protocol.Version {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "this server speaks %s, not %.20q", protocol.Version, d.Version)
	}
	if len(d.Name) > maxPerson || len(d.Agent) > maxPerson {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "name, agent: at most %d bytes", maxPerson)
	}
	limits := c.server.limits
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.Name != "" && c.who.Subject == "" { // a verified name wins
		c.who.Name = protocol.ValidText(d.Name)
	}
	c.program = protocol.ValidText(d.Agent)
	c.window = 0
	if d.Acks {
		c.window = d.Window
		if c.window <= 0 {
			c.window = protocol.DefaultWindow
		}
		c.window = min(c.window, limits.Window)
	}
	r := &protocol.HelloResult{
		Version: protocol.Version, Server: c.server.version, Connection: c.id, By: c.who, Agents: c.server.agents,
		Limits: protocol.Limits{Message: limits.Message, Event: protocol.MaxEvent, InFlight: limits.InFlight},
		Window: c.window, HeartbeatMS: limits.Heartbeat.Milliseconds(),
	}
	for _, t := range protocol.Commands {
		if c.role.May(t.Verb) {
			r.Commands = append(r.Commands, t.Verb)
		}
	}
	return r, nil
}

func (c *conn) watch(d *protocol.WatchData) (r protocol.ListResult, _ error) {
	if d.Off {
		c.server.hub.Unwatch(c)
		r.Sessions = []protocol.Summary{}
	} else {
		r.Sessions = c.server.hub.Watch(c)
	}
	return r, nil
}

// subscribe begins to follow a session, or begins anew: events of the subscription before come ahead of the answer, its own
// after it.
func (c *conn) subscribe(ctx context.Context, name string, d *protocol.SubscribeData, reply func(json.RawMessage, error)) {
	c.joins.Add(1)
	c.server.hub.Attach(ctx, name, c, d, func(at *session.Attachment, err error) {
		defer c.joins.Done()
		if err != nil {
			reply(nil, err)
			return
		}
		sub := &subscription{
			session: at.Result.Session, log: at.Log, raw: d.Raw, after: at.Result.After.Seq, upto: at.Result.Position,
		}
		sub.acked = sub.after
		c.mu.Lock()
		c.drop(sub.session)
		c.mu.Unlock()
		reply(protocol.MustEncode(at.Result), nil)
		c.mu.Lock()
		c.subs = append(c.subs, sub)
		c.mu.Unlock()
		c.Wake()
	})
}

func (c *conn) unsubscribe(name string) error {
	c.joins.Wait() // one that was asked for before
	id, err := c.followed(name)
	if err != nil {
		return err
	}
	c.mu.Lock()
	found := c.drop(id)
	c.mu.Unlock()
	if !found {
		return protocol.Errorf(protocol.CodeNotSubscribed, "this connection does not follow session %s", id)
	}
	c.server.hub.Detach(id, c.id, "")
	return nil
}

// ack takes note of what the client has received. What it acknowledges of a session it no longer follows is no error.
func (c *conn) ack(cmd *protocol.Command) error {
	d := new(protocol.AckData)
	if err := cmd.DecodeData(d); err != nil {
		return err
	}
	id, err := c.followed(cmd.Session)
	if err != nil {
		return err
	}
	c.mu.Lock()
	for _, sub := range c.subs {
		if sub.session == id {
			c.unacked -= sub.ack(d.Seq)
		}
	}
	c.mu.Unlock()
	c.Wake()
	return nil
}

// followed returns the id of a session that the connection follows, which may have been deleted, or that the hub knows.
func (c *conn) followed(name string) (string, error) {
	c.mu.Lock()
	known := slices.ContainsFunc(c.subs, func(s *subscription) bool { return s.session == name })
	c.mu.Unlock()
	if known {
		return name, nil
	}
	return c.server.hub.Resolve(name)
}
