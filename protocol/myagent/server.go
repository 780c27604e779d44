package myagent

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A server is the codec of one connection at our server's end.
type serverCodec struct {
	// Static after construction.

	options        codec.ServerOptions
	id             string // connection_id
	heartbeat      time.Duration
	confirmTimeout time.Duration // how long a confirmation waits; 0: for ever
	stateTTL       time.Duration // of an exported state
	sentFrames     *frameIndex   // of the frames sent; shared with later connections

	requests      codec.Requests
	nativeID      string // our server's name for the connection
	seq           uint64
	subscriptions map[string]*subscription // by session
	aliases       map[string]string        // what the client calls a session → its id
	current       string                   // the session that a frame without session_id means
	joining       *join                    // that it will mean; nil: none is on its way
	deferred      int                      // frames that wait for it
	ownMessages   []string                 // messages that this client sent, the newest
	openedAt      time.Time
	nextHeartbeat time.Time // the next heartbeat

	// Of the call under way.

	now time.Time
	out *codec.Output
}

const (
	defaultHeartbeat      = 30 * time.Second
	defaultConfirmTimeout = 300 * time.Second

	maxPendingCommands = 64  // commands under way
	maxSubscriptions   = 64  // sessions per connection
	maxOwnMessages     = 256 // remembered messages
)

func newServerCodec(d codec.ServerOptions) *serverCodec {
	return &serverCodec{
		options: d, id: d.ID("conn"), sentFrames: new(frameIndex), subscriptions: map[string]*subscription{}, aliases: map[string]string{},
		heartbeat: durationOption(d.Options, "heartbeat", defaultHeartbeat), confirmTimeout: durationOption(d.Options, "confirm_timeout", defaultConfirmTimeout),
		stateTTL: durationOption(d.Options, "state_ttl", defaultStateTTL),
	}
}

// call carries out one call of the codec.
func (s *serverCodec) run(now time.Time, f func()) codec.Output {
	var out codec.Output
	s.now, s.out = now, &out
	f()
	out.Wake = s.nextWake()
	s.out = nil
	return out
}

// Open implements codec.Codec.
func (s *serverCodec) Open(now time.Time) codec.Output {
	return s.run(now, func() {
		s.openedAt, s.nextHeartbeat = now, now.Add(s.heartbeat)
		if s.options.Resume != nil {
			s.options.Resume.Put(s.id, s.sentFrames)
		}
		s.requests.Do(s.out, protocol.DoHello, "", "", protocol.HelloData{Version: protocol.Version, Agent: Name}, func(a protocol.Answer) {
			var r protocol.HelloResult
			_ = json.Unmarshal(a.Result, &r) // our own server's; without it no session is known to have gone
			s.nativeID = r.Connection
		})
		s.send(frame{
			Event: systemConnected, Show: showConnected,
			Content: meta{"server_version": s.options.Version, "capabilities": capabilities},
		})
	})
}

// Native implements codec.Codec.
func (s *serverCodec) Native(now time.Time, line []byte) codec.Output {
	return s.run(now, func() {
		if e := s.requests.Receive(line); e != nil {
			s.handleEvent(e)
		}
	})
}

// Foreign implements codec.Codec.
func (s *serverCodec) Foreign(now time.Time, f codec.Frame) codec.Output {
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

// TooLarge says that a message is over the limit: nothing of it was read.
func (s *serverCodec) TooLarge(now time.Time, message string) codec.Output {
	return s.run(now, func() { s.sendError("Invalid message: " + message) })
}

// Wake implements codec.Codec.
func (s *serverCodec) Wake(now time.Time) codec.Output {
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

// wake is when to be woken next.
func (s *serverCodec) nextWake() time.Time {
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
func (s *serverCodec) send(f frame) uint64 {
	s.seq++
	f.Connection, f.Seq, f.ID = s.id, s.seq, eventID(s.id, s.seq)
	if f.Meta == nil {
		f.Meta = meta{}
	}
	f.Meta["connection_id"] = s.id
	s.out.Foreign = append(s.out.Foreign, codec.Frame{Data: f.encode(s.now)})
	return s.seq
}

// complain tells the client that it sent something that cannot be understood.
func (s *serverCodec) sendError(words string) {
	s.send(frame{Event: systemError, Content: words, Meta: meta{"error": words}, Show: shorten(words)})
}
