package myagent

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A server is the codec of one connection at our server's end.
type server struct {
	// Static after construction.

	door     codec.ServerOptions
	id       string // connection_id
	beats    time.Duration
	patience time.Duration // how long a confirmation waits; 0: for ever
	ttl      time.Duration // of an exported state
	marks    *marks        // of the frames sent; shared with later connections

	requests codec.Requests
	native   string // our server's name for the connection
	seq      uint64
	follows  map[string]*follow // by session
	names    map[string]string  // what the client calls a session → its id
	current  string             // the session that a frame without session_id means
	arriving *arrival           // that it will mean; nil: none is on its way
	held     int                // frames that wait for it
	sent     []string           // messages that this client sent, the newest
	opened   time.Time
	beat     time.Time // the next heartbeat

	// Of the call under way.

	now time.Time
	out *codec.Output
}

const (
	heartbeat   = 30 * time.Second
	confirmWait = 300 * time.Second

	maxWaiting = 64  // commands under way
	maxFollows = 64  // sessions per connection
	maxSent    = 256 // remembered messages
)

func newServer(d codec.ServerOptions) *server {
	return &server{
		door: d, id: d.ID("conn"), marks: new(marks), follows: map[string]*follow{}, names: map[string]string{},
		beats: span(d.Options, "heartbeat", heartbeat), patience: span(d.Options, "confirm_timeout", confirmWait),
		ttl: span(d.Options, "state_ttl", stateTTL),
	}
}

// call carries out one call of the codec.
func (s *server) call(now time.Time, f func()) codec.Output {
	var out codec.Output
	s.now, s.out = now, &out
	f()
	out.Wake = s.wake()
	s.out = nil
	return out
}

// Open implements codec.Codec.
func (s *server) Open(now time.Time) codec.Output {
	return s.call(now, func() {
		s.opened, s.beat = now, now.Add(s.beats)
		if s.door.Resume != nil {
			s.door.Resume.Put(s.id, s.marks)
		}
		s.requests.Do(s.out, protocol.DoHello, "", "", protocol.HelloData{Version: protocol.Version, Agent: Name}, func(a protocol.Answer) {
			var r protocol.HelloResult
			_ = json.Unmarshal(a.Result, &r) // our own server's; without it no session is known to have gone
			s.native = r.Connection
		})
		s.send(frame{
			Event: systemConnected, Show: showConnected,
			Content: meta{"server_version": s.door.Version, "capabilities": capabilities},
		})
	})
}

// Native implements codec.Codec.
func (s *server) Native(now time.Time, line []byte) codec.Output {
	return s.call(now, func() {
		if e := s.requests.Receive(line); e != nil {
			s.event(e)
		}
	})
}

// Foreign implements codec.Codec.
func (s *server) Foreign(now time.Time, f codec.Frame) codec.Output {
	return s.call(now, func() {
		m, ok := decode(f.Data)
		switch {
		case f.Binary:
			s.complain("Invalid message: expected a text message")
		case !ok:
			s.complain("Invalid JSON: expected an object")
		case m.Event == "":
			s.complain("Missing event")
		default:
			s.user(&m)
		}
	})
}

// TooLarge says that a message is over the limit: nothing of it was read.
func (s *server) TooLarge(now time.Time, message string) codec.Output {
	return s.call(now, func() { s.complain("Invalid message: " + message) })
}

// Wake implements codec.Codec.
func (s *server) Wake(now time.Time) codec.Output {
	return s.call(now, func() {
		if s.beats > 0 && !now.Before(s.beat) {
			s.beat = now.Add(s.beats)
			s.send(frame{
				Event: systemHeartbeat, Content: meta{"timestamp": now.UTC().Format(protocol.TimeFormat)},
				Meta: meta{"active_sessions": len(s.follows), "uptime": int64(now.Sub(s.opened).Seconds())},
			})
		}
		for _, f := range s.follows {
			s.expire(f)
		}
	})
}

// wake is when to be woken next.
func (s *server) wake() time.Time {
	var at time.Time
	if s.beats > 0 {
		at = s.beat
	}
	for _, f := range s.follows {
		for _, due := range f.due {
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

// complain tells the client that it sent something that cannot be understood.
func (s *server) complain(words string) {
	s.send(frame{Event: systemError, Content: words, Meta: meta{"error": words}, Show: shorten(words)})
}
