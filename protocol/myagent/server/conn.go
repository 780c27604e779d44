package server

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// A Conn is the connection of a foreign client. It implements codec.Codec.
type Conn struct {
	exchange
	subs     subscriptions
	attacher attacher

	heartbeat     time.Duration // static after construction
	openedAt      time.Time
	nextHeartbeat time.Time // time of the next heartbeat
}

const (
	defaultHeartbeat      = 30 * time.Second
	defaultConfirmTimeout = 300 * time.Second

	maxPendingCommands = 64  // commands without an answer
	maxSubscriptions   = 64  // sessions per connection
	maxOwnMessages     = 256 // remembered messages
)

// New returns the server end of a connection.
func New(o codec.ServerOptions) *Conn {
	c := &Conn{
		exchange: exchange{
			ServerBase: codec.ServerBase{Options: o}, id: o.ID("conn"),
			stateTTL: durationOption(o.Options, "state_ttl", wire.DefaultStateTTL),
		},
		heartbeat: durationOption(o.Options, "heartbeat", defaultHeartbeat),
	}
	c.subs = subscriptions{
		x: &c.exchange, sentFrames: new(frameIndex), bySession: map[string]*subscription{}, aliases: map[string]string{},
		confirmTimeout: durationOption(o.Options, "confirm_timeout", defaultConfirmTimeout),
	}
	c.attacher = attacher{x: &c.exchange, subs: &c.subs}
	return c
}

// durationOption returns a duration from the dialect's options, or otherwise if it is missing or
// invalid.
func durationOption(options map[string]string, name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(options[name]); err == nil && d >= 0 {
		return d
	}
	return otherwise
}

// run executes one call of the codec.
func (c *Conn) run(now time.Time, work func()) codec.Output {
	return c.Run(now, func() {
		work()
		c.scheduleWake()
	})
}

// Open implements codec.Codec.
func (c *Conn) Open(now time.Time) codec.Output {
	return c.run(now, func() {
		c.openedAt, c.nextHeartbeat = now, now.Add(c.heartbeat)
		if c.Options.Resume != nil {
			c.Options.Resume.Put(c.id, c.subs.sentFrames)
		}
		c.Hello(wire.Name)
		c.send(wire.Frame{
			Event: wire.SystemConnected, Show: showConnected,
			Content: wire.Meta{"server_version": c.Options.Version, "capabilities": wire.Capabilities},
		})
	})
}

// Native implements codec.Codec.
func (c *Conn) Native(now time.Time, line []byte) codec.Output {
	return c.run(now, func() {
		if e := c.Receive(line); e != nil {
			c.subs.event(e)
		}
	})
}

// Foreign implements codec.Codec.
func (c *Conn) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() {
		m, ok := wire.DecodeMessage(f.Data)
		switch {
		case f.Binary:
			c.sendError("Invalid message: expected a text message")
		case !ok:
			c.sendError("Invalid JSON: expected an object")
		case m.Event == "":
			c.sendError("Missing event")
		default:
			c.handleFrame(&m)
		}
	})
}

// TooLarge sends the error of a message over the size limit, which was not read.
func (c *Conn) TooLarge(now time.Time, message string) codec.Output {
	return c.run(now, func() { c.sendError("Invalid message: " + message) })
}

// Wake implements codec.Codec.
func (c *Conn) Wake(now time.Time) codec.Output {
	return c.run(now, func() {
		if c.heartbeat > 0 && !now.Before(c.nextHeartbeat) {
			c.nextHeartbeat = now.Add(c.heartbeat)
			c.send(wire.Frame{
				Event: wire.SystemHeartbeat, Content: wire.Meta{"timestamp": now.UTC().Format(protocol.TimeFormat)},
				Show: showHeartbeat,
				Meta: wire.Meta{"active_sessions": len(c.subs.bySession), "uptime": int64(now.Sub(c.openedAt).Seconds())},
			})
		}
		for _, sub := range c.subs.bySession {
			c.subs.expireConfirmations(sub)
		}
	})
}

// scheduleWake schedules a Wake for the next heartbeat or deadline.
func (c *Conn) scheduleWake() {
	if c.heartbeat > 0 {
		c.Out.WakeBy(c.nextHeartbeat)
	}
	for _, sub := range c.subs.bySession {
		for _, deadline := range sub.deadlines {
			c.Out.WakeBy(deadline)
		}
	}
}

// handleFrame executes a frame of the client.
func (c *Conn) handleFrame(m *wire.Message) {
	r := &request{
		Message: m, meta: wire.ParseObject(m.Metadata), event: string(m.Event), x: &c.exchange, attacher: &c.attacher,
	}
	handle := r.handler()
	switch {
	case r.event == wire.UserAck:
		c.subs.sentFrames.ack(min(r.AckedSeq(), c.seq))
	case handle == nil:
		r.refuse(protocol.Errorf(protocol.CodeUnknownCommand,
			"Unknown event type or missing session_id: %.100s", r.event))
	case c.Requests.Pending()+c.attacher.deferred >= maxPendingCommands:
		r.refuse(&protocol.Error{
			Code: protocol.CodeTooMany, Message: "Too many pending requests", Limit: maxPendingCommands,
		})
	default:
		handle()
	}
}
