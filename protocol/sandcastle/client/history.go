package client

import (
	"encoding/json"
	"net/url"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// A historyFetch holds a session's stream values while its finished turns are fetched. The server
// sends no more before the Ack.
type historyFetch struct {
	values []json.RawMessage
	bytes  int
	done   func([]wire.ChatMessage) // nil: the server has no history
}

// hold keeps a value of the stream. Beyond the bound it ends the wait: a server may not wait for the
// Ack.
func (f *historyFetch) hold(raw json.RawMessage) {
	f.values = append(f.values, raw)
	if f.bytes += len(raw); f.bytes > maxLine {
		f.done(nil)
	}
}

// startLog starts a session's log from its first state, after fetching the finished turns.
func (c *Conn) startLog(s *session, e *wire.SessionEvent) {
	start := func(messages []wire.ChatMessage) {
		s.start(e, messages)
		waiting := s.waiting
		s.waiting = nil
		for i := range waiting {
			c.handleCommand(&waiting[i])
		}
	}
	// tried even without finished turns, to learn whether the endpoint exists
	overHTTP := c.capabilities.tags[wire.OpHistory] == ""
	unneeded := e.Snapshot.HistoryCursor.LastMessageID == nil && len(c.capabilities.unanswered.sends) == 0
	if !overHTTP && (unneeded || c.capabilities.noHistory) {
		start(nil)
		return
	}
	fetch, stream := &historyFetch{}, s.stream
	fetch.done = func(messages []wire.ChatMessage) {
		if c.sessions[s.id] != s || s.history != fetch {
			return
		}
		s.history = nil
		start(messages)
		for _, v := range fetch.values {
			c.handleValue(s, v)
		}
		if c.inFlight[stream.id] == stream {
			c.acknowledge(stream)
		}
	}
	s.history = fetch
	if overHTTP {
		path := "/api/sessions/" + url.PathEscape(s.id) + "/messages"
		c.paths, c.fetches[path] = append(c.paths, path), fetch
		return
	}
	c.request(&request{
		op: wire.OpHistory, payload: wire.Payload{SessionID: s.id},
		done: func(v json.RawMessage, _ *protocol.Error) {
			messages, _ := wire.DecodeHistory(v) // nil if the server has none
			fetch.done(messages)
		},
	})
}

// Paths returns the paths of the session histories to fetch, as the protocol's document defines
// them.
func (c *Conn) Paths() []string {
	paths := c.paths
	c.paths = nil
	return paths
}

// PathRead handles the content of a path. body is nil if it could not be fetched.
func (c *Conn) PathRead(now time.Time, path string, body []byte) codec.Output {
	return c.run(now, func() {
		fetch := c.fetches[path]
		delete(c.fetches, path)
		messages, ok := wire.DecodeHistory(body)
		if c.capabilities.httpHistory = ok; fetch != nil {
			fetch.done(messages)
		}
	})
}
