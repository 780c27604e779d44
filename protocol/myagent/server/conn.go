package server

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// A Conn is the connection of a foreign client. It implements codec.Codec.
type Conn struct {
	codec.ServerBase

	// Static after construction.

	id             string // connection_id
	heartbeat      time.Duration
	confirmTimeout time.Duration // until a confirmation is denied; 0: never
	stateTTL       time.Duration // of an exported state
	sentFrames     *frameIndex   // shared with later connections

	seq           uint64
	subscriptions map[string]*subscription // by session
	aliases       map[string]string        // the client's name of a session → its id
	current       string                   // the session that a frame without session_id means
	joining       *join                    // nil: no session is being attached
	deferred      int                      // frames that wait for the join
	ownMessages   []string                 // newest message ids sent by this client
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
	return &Conn{
		ServerBase: codec.ServerBase{Options: o}, id: o.ID("conn"), sentFrames: new(frameIndex),
		subscriptions: map[string]*subscription{}, aliases: map[string]string{},
		heartbeat:      durationOption(o.Options, "heartbeat", defaultHeartbeat),
		confirmTimeout: durationOption(o.Options, "confirm_timeout", defaultConfirmTimeout),
		stateTTL:       durationOption(o.Options, "state_ttl", wire.DefaultStateTTL),
	}
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
func (s *Conn) run(now time.Time, work func()) codec.Output {
	return s.Run(now, func() {
		work()
		s.scheduleWake()
	})
}

// Open implements codec.Codec.
func (s *Conn) Open(now time.Time) codec.Output {
	return s.run(now, func() {
		s.openedAt, s.nextHeartbeat = now, now.Add(s.heartbeat)
		if s.Options.Resume != nil {
			s.Options.Resume.Put(s.id, s.sentFrames)
		}
		s.Hello(wire.Name)
		s.send(wire.Frame{
			Event: wire.SystemConnected, Show: showConnected,
			Content: wire.Meta{"server_version": s.Options.Version, "capabilities": wire.Capabilities},
		})
	})
}

// Native implements codec.Codec.
func (s *Conn) Native(now time.Time, line []byte) codec.Output {
	return s.run(now, func() {
		if e := s.Receive(line); e != nil {
			s.handleEvent(e)
		}
	})
}

// Foreign implements codec.Codec.
func (s *Conn) Foreign(now time.Time, f codec.Frame) codec.Output {
	return s.run(now, func() {
		m, ok := wire.DecodeMessage(f.Data)
		switch {
		case f.Binary:
			s.sendError("Invalid message: expected a text message")
		case !ok:
			s.sendError("Invalid JSON: expected an object")
		case m.Event == "":
			s.sendError("Missing event")
		default:
			s.handleFrame(&m)
		}
	})
}

// TooLarge sends the error of a message over the size limit, which was not read.
func (s *Conn) TooLarge(now time.Time, message string) codec.Output {
	return s.run(now, func() { s.sendError("Invalid message: " + message) })
}

// Wake implements codec.Codec.
func (s *Conn) Wake(now time.Time) codec.Output {
	return s.run(now, func() {
		if s.heartbeat > 0 && !now.Before(s.nextHeartbeat) {
			s.nextHeartbeat = now.Add(s.heartbeat)
			s.send(wire.Frame{
				Event: wire.SystemHeartbeat, Content: wire.Meta{"timestamp": now.UTC().Format(protocol.TimeFormat)},
				Show: showHeartbeat,
				Meta: wire.Meta{"active_sessions": len(s.subscriptions), "uptime": int64(now.Sub(s.openedAt).Seconds())},
			})
		}
		for _, sub := range s.subscriptions {
			s.expireConfirmations(sub)
		}
	})
}

// scheduleWake schedules a Wake for the next heartbeat or deadline.
func (s *Conn) scheduleWake() {
	if s.heartbeat > 0 {
		s.Out.WakeBy(s.nextHeartbeat)
	}
	for _, sub := range s.subscriptions {
		for _, deadline := range sub.deadlines {
			s.Out.WakeBy(deadline)
		}
	}
}

// send sends a frame and returns its seq.
func (s *Conn) send(f wire.Frame) uint64 {
	s.seq++
	f.Connection, f.Seq, f.ID = s.id, s.seq, wire.EventID(s.id, s.seq)
	if f.Meta == nil {
		f.Meta = wire.Meta{}
	}
	f.Meta["connection_id"] = s.id
	s.Send(codec.Frame{Data: f.Encode(s.Now)})
	return s.seq
}

// sendError sends an error about a message that cannot be decoded.
func (s *Conn) sendError(text string) {
	s.send(wire.Frame{Event: wire.SystemError, Content: text, Meta: wire.Meta{"error": text}, Show: wire.Shorten(text)})
}
