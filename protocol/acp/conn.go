package acp

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Name is the name of the protocol: of its path at a server, and in the names of clients.
const Name = "acp"

// Options are what an editor cannot say itself. Empty: the server's default, the editor's directory,
// and any session.
type Options struct {
	Agent   string // of new sessions
	CWD     string // of new sessions, on the server
	Session string // that session/new opens, instead of a new one

	// Login: the program of the connection takes "--login AGENT", to log in on the machine of the server.
	Login bool
}

// Bounds of a connection.
const (
	maxSessions = 100 // open
	maxWaiting  = 64  // commands without an answer
)

// A Conn is the codec of a connection. It is the client of its sessions: it subscribes to those that
// the editor opened, and sends commands in its name.
type Conn struct {
	client
	fixed    Options
	sessions map[string]*session
	calls    calls
	ended    bool // End was called
}

var (
	_ codec.Codec = (*Conn)(nil)
	_ codec.Ender = (*Conn)(nil)
)

// New returns the codec of a client's connection.
func New(o codec.ServerOptions, fixed Options) *Conn {
	return &Conn{client: client{ServerBase: codec.ServerBase{Options: o}}, fixed: fixed, sessions: map[string]*session{}}
}

// Open implements codec.Codec.
func (c *Conn) Open(now time.Time) codec.Output { return c.run(now, func() {}) }

// Native implements codec.Codec.
func (c *Conn) Native(now time.Time, line []byte) codec.Output {
	return c.run(now, func() {
		if e := c.Receive(line); e != nil {
			c.applyEvent(e)
		}
	})
}

// Foreign implements codec.Codec.
func (c *Conn) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() { c.handle(f) })
}

// Wake implements codec.Codec.
func (c *Conn) Wake(now time.Time) codec.Output {
	return c.run(now, func() {
		c.flush = time.Time{}
		for _, s := range c.sessions {
			s.tools.flush()
		}
	})
}

// TooLarge answers a message over the limit of the transport.
func (c *Conn) TooLarge(now time.Time, message string) codec.Output {
	return c.run(now, func() {
		e := errorOf(protocol.Errorf(protocol.CodeTooLarge, "%s", message))
		c.write(&rpcMessage{ID: json.RawMessage("null"), Error: e})
	})
}

// End implements codec.Ender: sessions that the connection created and that got no message end with
// it.
func (c *Conn) End(now time.Time) codec.Output {
	return c.run(now, func() {
		c.ended = true
		for _, s := range c.sessions {
			s.discardUnused()
		}
	})
}

func (c *Conn) run(now time.Time, work func()) codec.Output {
	out := c.Run(now, work)
	out.WakeBy(c.flush)
	return out
}

// handle carries out a message of the client.
func (c *Conn) handle(f codec.Frame) {
	var m received
	switch {
	case f.Binary || !json.Valid(f.Data):
		c.fail(json.RawMessage("null"), &rpcError{Code: codeParse, Message: "not a JSON-RPC message"})
		return
	case json.Unmarshal(f.Data, &m) != nil || m.Method == nil && len(m.ID) == 0:
		c.fail(json.RawMessage("null"), &rpcError{Code: codeInvalidRequest, Message: "not a JSON-RPC message"})
		return
	case m.Method == nil:
		c.calls.handle(&m)
		return
	case len(m.ID) == 0:
		c.handleNotification(*m.Method, m.Params)
		return
	}
	method := *m.Method
	handle := requests[method]
	switch {
	case method == "initialize":
		c.initialize(&m)
	case c.version == 0:
		c.fail(m.ID, &rpcError{Code: codeInvalidRequest, Message: "send initialize first"})
	case handle.run == nil || handle.only != 0 && handle.only != c.version:
		c.fail(m.ID, &rpcError{Code: codeUnknownMethod, Message: "unknown method " + codec.Excerpt(method)})
	case c.Requests.Pending() >= maxWaiting:
		c.refuse(m.ID, protocol.CodeTooMany, "more than %d requests wait for an answer", maxWaiting)
	default:
		handle.run(c, &request{ID: m.ID, Params: m.Params})
	}
}

// A request is a request of the client.
type request struct {
	ID     json.RawMessage
	Params json.RawMessage
}

// A handler handles the requests of a method. only is the version that has the method; 0: both.
type handler struct {
	run  func(*Conn, *request)
	only int
}

// requests are the methods of clients except initialize.
var requests map[string]handler

func init() {
	requests = map[string]handler{
		"session/new":               {run: (*Conn).newSession},
		"session/load":              {run: (*Conn).loadSession, only: 1},
		"session/resume":            {run: (*Conn).resumeSession},
		"session/list":              {run: (*Conn).listSessions},
		"session/close":             {run: (*Conn).closeSession},
		"session/delete":            {run: (*Conn).deleteSession},
		"session/fork":              {run: (*Conn).forkSession},
		"session/prompt":            {run: (*Conn).prompt},
		"session/set_mode":          {run: (*Conn).setMode, only: 1},
		"session/set_config_option": {run: (*Conn).setConfigOption},
		"authenticate":              {run: (*Conn).authenticate, only: 1},
		"auth/login":                {run: (*Conn).authenticate, only: 2},
	}
}

// handleNotification carries out a notification of the client. Others are ignored.
func (c *Conn) handleNotification(method string, params json.RawMessage) {
	switch method {
	case "session/cancel":
		if s := c.sessions[sessionOf(params)]; s != nil {
			s.prompts.cancel(nil)
		}
	case "$/cancel_request":
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(params, &p) == nil {
			for _, s := range c.sessions {
				s.prompts.cancel(p.ID)
			}
		}
	}
}

// sessionOf returns the session of parameters, or "".
func sessionOf(params json.RawMessage) string {
	var p struct {
		Session string `json:"sessionId"`
	}
	_ = json.Unmarshal(params, &p) // "" then
	return p.Session
}
