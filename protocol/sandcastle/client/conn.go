package client

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// pingEvery is the interval between pings. A missing answer ends the connection at the next ping.
const pingEvery = 10 * time.Second

// Delays before a broken stream is reopened. Each is one and a half times the last.
const (
	minReopenDelay = 500 * time.Millisecond
	maxReopenDelay = 5 * time.Second
)

// maxLine bounds a message that spans several frames, and the stream values held during a history
// fetch, in bytes.
const maxLine = 16 << 20

// A Conn is agentctl's connection to a server. It implements codec.Codec. It routes commands and
// messages to the sessions that the client follows, and keeps their streams open.
type Conn struct {
	*exchange
	splitter wire.LineSplitter
	sessions map[string]*session
	paths    []string                 // to fetch
	fetches  map[string]*historyFetch // by path

	awaitingPong bool // no answer yet
	nextPing     time.Time
	reopenAt     time.Time     // when broken streams are reopened; zero: none is broken
	reopenDelay  time.Duration // for the next time
}

// New returns the client end of a connection. The option "tags" selects the tag set of
// requests: "chat" or "document". Without it the codec detects the set.
func New(o codec.ClientOptions) *Conn {
	return &Conn{
		exchange: &exchange{
			ClientBase:   codec.NewClientBase(o, Responder),
			capabilities: codec.ResumeState(o.Resume, func() *capabilities { return newCapabilities(o.Options["tags"]) }),
			inFlight:     map[string]*request{},
		},
		splitter: wire.LineSplitter{Limit: maxLine},
		sessions: map[string]*session{}, fetches: map[string]*historyFetch{},
	}
}

// Open implements codec.Codec.
func (c *Conn) Open(now time.Time) codec.Output {
	c.nextPing = now.Add(pingEvery)
	return c.run(now, func() {})
}

// Native implements codec.Codec.
func (c *Conn) Native(now time.Time, line []byte) codec.Output {
	return c.run(now, func() {
		if cmd, ok := c.Decode(line); ok {
			c.handleCommand(&cmd)
		}
	})
}

// Foreign implements codec.Codec.
func (c *Conn) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() { c.splitter.Split(f.Data, c.handleMessage) })
}

// Wake implements codec.Codec. It pings and reopens broken streams.
func (c *Conn) Wake(now time.Time) codec.Output {
	return c.run(now, func() {
		if !c.reopenAt.IsZero() && !now.Before(c.reopenAt) {
			c.reopenStreams()
		}
		if now.Before(c.nextPing) {
			return
		}
		if c.awaitingPong {
			c.Out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "no answer to a ping"}
			return
		}
		c.awaitingPong, c.nextPing = true, now.Add(pingEvery)
		c.send(wire.ControlMessage{Tag: wire.TagPing})
	})
}

// run executes one call of the codec.
func (c *Conn) run(now time.Time, work func()) codec.Output {
	return c.Run(now, func() {
		work()
		c.Out.WakeBy(c.nextPing)
		c.Out.WakeBy(c.reopenAt)
	})
}

// handleMessage handles a message of the server.
func (c *Conn) handleMessage(line []byte) {
	var m wire.Message
	err := json.Unmarshal(line, &m)
	c.checkProtocol(err == nil && codec.String(m.Tag) != "")
	if err != nil {
		return // of no session: no log keeps it
	}
	id, _ := wire.RequestID(m.RequestID)
	switch codec.String(m.Tag) {
	case wire.TagPong:
		c.awaitingPong = false
	case wire.TagChunk:
		if req := c.inFlight[id]; req != nil && req.session != "" { // otherwise of a stream that was left
			c.handleChunk(req, m.Values)
		}
	case wire.TagExit:
		c.takeExit(id, m.Exit)
	case wire.TagDefect:
		if c.failAll(m.Defect) {
			c.reopenStreams()
		}
	}
}

// handleChunk handles values of a session's stream, and acknowledges them.
func (c *Conn) handleChunk(req *request, values []json.RawMessage) {
	s := c.sessions[req.session]
	c.confirmTags()
	for _, v := range values {
		c.handleValue(s, v)
	}
	if s.history == nil { // otherwise after the history fetch
		c.acknowledge(req)
	}
}

// handleValue handles a value of a session's stream.
func (c *Conn) handleValue(s *session, raw json.RawMessage) {
	if s.history != nil {
		s.history.hold(raw)
		return
	}
	var e wire.SessionEvent
	readable := json.Unmarshal(raw, &e) == nil && codec.Shallow(raw) // deeper parts fit no event
	isState := readable && e.Tag == wire.InitialState && e.Snapshot != nil
	switch {
	case isState && s.log == nil:
		c.startLog(s, &e)
	case s.log == nil: // no log exists before the state is known
	case isState:
		c.reopenDelay = 0
		s.resync(&e)
	case !readable:
		s.record(rawEntry(s.turnID(), codec.Excerpt(e.Tag), raw))
	default:
		s.handleEvent(&e, raw)
	}
}

// openSession returns the session of a command. If its state is unknown, it opens the stream,
// defers the command until the state arrives, and returns nil. The stream is the only source of the
// full state.
func (c *Conn) openSession(cmd *protocol.Command) *session {
	s := c.sessions[cmd.Session]
	switch {
	case s != nil && s.log != nil:
		return s
	case s == nil && len(c.sessions) >= wire.MaxSubscriptions:
		c.Failf(cmd, protocol.CodeTooMany, "too many sessions followed")
	case s == nil:
		s = &session{id: cmd.Session, x: c.exchange, waiting: []protocol.Command{*cmd}}
		c.sessions[s.id] = s
		c.openStream(s)
	default:
		c.Hold(&s.waiting, wire.MaxRequests, cmd)
	}
	return nil
}

// knownSession returns a session whose state is known, or nil.
func (c *Conn) knownSession(id string) *session {
	if s := c.sessions[id]; s != nil && s.log != nil {
		return s
	}
	return nil
}

// openStream requests a session's stream.
func (c *Conn) openStream(s *session) {
	s.stream = &request{
		op: wire.OpSubscribe, payload: wire.Payload{SessionID: s.id}, session: s.id,
		done: func(_ json.RawMessage, err *protocol.Error) {
			if c.sessions[s.id] != s {
				return
			}
			s.stream = nil
			switch {
			case s.log == nil:
				if err == nil {
					err = protocol.Errorf(protocol.CodeInternal, "the server ended the stream before its first state")
				}
				delete(c.sessions, s.id)
				s.failWaiting(err)
			case err != nil && err.Code == protocol.CodeNoSession && !s.log.State.Closed:
				s.recordClosed()
			case !s.log.State.Closed:
				c.scheduleReopen()
			}
		},
	}
	c.request(s.stream)
}

// unfollow stops following a session.
func (c *Conn) unfollow(s *session) {
	delete(c.sessions, s.id)
	c.abandon(s.stream)
	s.failWaiting(protocol.Errorf(protocol.CodeNotSubscribed, "unsubscribed"))
	s.answerInterrupts()
}

// scheduleReopen schedules the reopening of broken streams.
func (c *Conn) scheduleReopen() {
	if c.reopenAt.IsZero() {
		c.reopenDelay = max(minReopenDelay, c.reopenDelay)
		c.reopenAt = c.Now.Add(c.reopenDelay)
		c.reopenDelay = min(c.reopenDelay*3/2, maxReopenDelay)
	}
}

// reopenStreams reopens broken streams, in a stable order.
func (c *Conn) reopenStreams() {
	c.reopenAt = time.Time{}
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		if s := c.sessions[id]; s != nil && s.stream == nil && (s.log == nil || !s.log.State.Closed) {
			c.openStream(s)
		}
	}
}
