package myagent

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A server is the server end of one connection.
type server struct {
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

func newServer(o codec.ServerOptions) *server {
	return &server{
		ServerBase: codec.ServerBase{Options: o}, id: o.ID("conn"), sentFrames: new(frameIndex),
		subscriptions: map[string]*subscription{}, aliases: map[string]string{},
		heartbeat:      durationOption(o.Options, "heartbeat", defaultHeartbeat),
		confirmTimeout: durationOption(o.Options, "confirm_timeout", defaultConfirmTimeout),
		stateTTL:       durationOption(o.Options, "state_ttl", defaultStateTTL),
	}
}

// run executes one call of the codec.
func (s *server) run(now time.Time, work func()) codec.Output {
	return s.Run(now, func() {
		work()
		s.scheduleWake()
	})
}

// Open implements codec.Codec.
func (s *server) Open(now time.Time) codec.Output {
	return s.run(now, func() {
		s.openedAt, s.nextHeartbeat = now, now.Add(s.heartbeat)
		if s.Options.Resume != nil {
			s.Options.Resume.Put(s.id, s.sentFrames)
		}
		s.Hello(Name)
		s.send(frame{
			Event: systemConnected, Show: showConnected,
			Content: meta{"server_version": s.Options.Version, "capabilities": capabilities},
		})
	})
}

// Native implements codec.Codec.
func (s *server) Native(now time.Time, line []byte) codec.Output {
	return s.run(now, func() {
		if e := s.Receive(line); e != nil {
			s.handleEvent(e)
		}
	})
}

// Foreign implements codec.Codec.
func (s *server) Foreign(now time.Time, f codec.Frame) codec.Output {
	return s.run(now, func() {
		m, ok := decodeMessage(f.Data)
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
func (s *server) TooLarge(now time.Time, message string) codec.Output {
	return s.run(now, func() { s.sendError("Invalid message: " + message) })
}

// Wake implements codec.Codec.
func (s *server) Wake(now time.Time) codec.Output {
	return s.run(now, func() {
		if s.heartbeat > 0 && !now.Before(s.nextHeartbeat) {
			s.nextHeartbeat = now.Add(s.heartbeat)
			s.send(frame{
				Event: systemHeartbeat, Content: meta{"timestamp": now.UTC().Format(protocol.TimeFormat)},
				Show: showHeartbeat,
				Meta: meta{"active_sessions": len(s.subscriptions), "uptime": int64(now.Sub(s.openedAt).Seconds())},
			})
		}
		for _, sub := range s.subscriptions {
			s.expireConfirmations(sub)
		}
	})
}

// scheduleWake schedules a Wake for the next heartbeat or deadline.
func (s *server) scheduleWake() {
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
func (s *server) send(f frame) uint64 {
	s.seq++
	f.Connection, f.Seq, f.ID = s.id, s.seq, eventID(s.id, s.seq)
	if f.Meta == nil {
		f.Meta = meta{}
	}
	f.Meta["connection_id"] = s.id
	s.Send(codec.Frame{Data: f.encode(s.Now)})
	return s.seq
}

// sendError sends an error about a message that cannot be decoded.
func (s *server) sendError(text string) {
	s.send(frame{Event: systemError, Content: text, Meta: meta{"error": text}, Show: shorten(text)})
}
