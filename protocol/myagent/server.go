package myagent

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A serverCodec is the server end of one connection.
type server struct {
	// Static after construction.

	options        codec.ServerOptions
	id             string // connection_id
	heartbeat      time.Duration
	confirmTimeout time.Duration // until a confirmation is denied; 0: never
	stateTTL       time.Duration // of an exported state
	sentFrames     *frameIndex   // shared with later connections

	requests      codec.Requests
	nativeID      string // the connection's id at agentctl's server
	seq           uint64
	subscriptions map[string]*subscription // by session
	aliases       map[string]string        // the client's name of a session → its id
	current       string                   // the session that a frame without session_id means
	joining       *join                    // nil: no session is being attached
	deferred      int                      // frames that wait for the join
	ownMessages   []string                 // newest message ids sent by this client
	openedAt      time.Time
	nextHeartbeat time.Time // time of the next heartbeat

	// Valid during one call of the codec.

	now time.Time
	out *codec.Output
}

const (
	defaultHeartbeat      = 30 * time.Second
	defaultConfirmTimeout = 300 * time.Second

	maxPendingCommands = 64  // commands without an answer
	maxSubscriptions   = 64  // sessions per connection
	maxOwnMessages     = 256 // remembered messages
)

func newServer(d codec.ServerOptions) *server {
	return &server{
		options: d, id: d.ID("conn"), sentFrames: new(frameIndex), subscriptions: map[string]*subscription{}, aliases: map[string]string{},
		heartbeat: durationOption(d.Options, "heartbeat", defaultHeartbeat), confirmTimeout: durationOption(d.Options, "confirm_timeout", defaultConfirmTimeout),
		stateTTL: durationOption(d.Options, "state_ttl", defaultStateTTL),
	}
}

// run executes one call of the codec.
func (s *server) run(now time.Time, f func()) codec.Output {
	var out codec.Output
	s.now, s.out = now, &out
	f()
	out.Wake = s.nextWake()
	s.out = nil
	return out
}

// Open implements codec.Codec.
func (s *server) Open(now time.Time) codec.Output {
	return s.run(now, func() {
		s.openedAt, s.nextHeartbeat = now, now.Add(s.heartbeat)
		if s.options.Resume != nil {
			s.options.Resume.Put(s.id, s.sentFrames)
		}
		s.requests.Do(s.out, protocol.DoHello, "", "", protocol.HelloData{Version: protocol.Version, Agent: Name}, func(a protocol.Answer) {
			var r protocol.HelloResult
			// agentctl's own encoding; if it fails, deleted sessions go unnoticed
			_ = json.Unmarshal(a.Result, &r)
			s.nativeID = r.Connection
		})
		s.send(frame{
			Event: systemConnected, Show: showConnected,
			Content: meta{"server_version": s.options.Version, "capabilities": capabilities},
		})
	})
}

// Native implements codec.Codec.
func (s *server) Native(now time.Time, line []byte) codec.Output {
	return s.run(now, func() {
		if e := s.requests.Receive(line); e != nil {
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
				Meta: meta{"active_sessions": len(s.subscriptions), "uptime": int64(now.Sub(s.openedAt).Seconds())},
			})
		}
		for _, f := range s.subscriptions {
			s.expireConfirmations(f)
		}
	})
}

// nextWake returns the time of the next Wake.
func (s *server) nextWake() time.Time {
	var at time.Time
	if s.heartbeat > 0 {
		at = s.nextHeartbeat
	}
	for _, f := range s.subscriptions {
		for _, due := range f.deadlines {
			if at.IsZero() || due.Before(at) {
				at = due
			}
		}
	}
	return at
}

// send sends a frame and returns its seq.
func (s *server) send(f frame) uint64 {
	s.seq++
	f.Connection, f.Seq, f.ID = s.id, s.seq, eventID(s.id, s.seq)
	if f.Meta == nil {
		f.Meta = meta{}
	}
	f.Meta["connection_id"] = s.id
	s.out.Foreign = append(s.out.Foreign, codec.Frame{Data: f.encode(s.now)})
	return s.seq
}

// sendError sends an error about a message that cannot be decoded.
func (s *server) sendError(words string) {
	s.send(frame{Event: systemError, Content: words, Meta: meta{"error": words}, Show: shorten(words)})
}
