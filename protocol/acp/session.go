package acp

import (
	"encoding/json"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A session is a session that the client has open.
type session struct {
	codec.Subscription
	opened   func(*protocol.Error) // answers the request that opens the session; nil afterwards
	replay   bool                  // the events before caught_up are sent too
	created  bool                  // by this connection
	prompts  []*prompt             // without an end of their turn, in the order in which they came
	tools    map[string]*toolCall  // open
	requests map[string]*call      // questions to the client about pending requests, by request
	shown    map[string]string     // titles of the requests that the client has seen, by request
}

type openParams struct {
	Session string            `json:"sessionId"`
	CWD     string            `json:"cwd"`
	Servers []json.RawMessage `json:"mcpServers"`
	Replay  *struct {
		Type string `json:"type"`
	} `json:"replayFrom"`
}

// newSession creates a session, or opens the one of the options.
func (c *Conn) newSession(r *request) {
	p, ok := decode[openParams](c, r)
	if !ok || !c.allowOpen(r) {
		return
	}
	if c.fixed.Session != "" {
		c.open(r, &p, c.fixed.Session, true, false)
		return
	}
	d := protocol.CreateData{Agent: c.fixed.Agent, CWD: p.CWD, Check: true}
	if c.fixed.CWD != "" {
		d.CWD = c.fixed.CWD
	}
	c.make(r, &p, protocol.DoCreate, "", d)
}

func (c *Conn) forkSession(r *request) {
	if p, ok := decode[openParams](c, r); ok && c.allowOpen(r) {
		c.make(r, &p, protocol.DoFork, p.Session, protocol.ForkData{})
	}
}

// make makes a session and opens it.
func (c *Conn) make(r *request, p *openParams, verb protocol.Verb, from string, data any) {
	c.Request(verb, from, c.Options.ID("acp"), data, func(a protocol.Answer) {
		made, err := codec.DecodeResult[protocol.CreateResult](a)
		if err != nil {
			if verb == protocol.DoCreate && strings.Contains(err.Message, p.CWD) && p.CWD != "" {
				err.Message += "; to choose a directory of the server: agentctl acp --cwd DIR"
			}
			c.fail(r.ID, errorOf(err))
			return
		}
		c.open(r, p, made.Session, false, verb == protocol.DoCreate)
	})
}

// allowOpen reports whether the client may open one more session. If not, it is answered.
func (c *Conn) allowOpen(r *request) bool {
	if len(c.sessions) < maxSessions {
		return true
	}
	c.refuse(r.ID, protocol.CodeTooMany, "at most %d sessions can be open on a connection", maxSessions)
	return false
}

func (c *Conn) loadSession(r *request) {
	if p, ok := decode[openParams](c, r); ok && c.allowOpen(r) {
		c.open(r, &p, p.Session, true, false)
	}
}

func (c *Conn) resumeSession(r *request) {
	if p, ok := decode[openParams](c, r); ok && c.allowOpen(r) {
		c.open(r, &p, p.Session, p.Replay != nil, false)
	}
}

// open subscribes to a session and answers the request when the client has caught up. With replay the
// client gets the whole conversation before.
func (c *Conn) open(r *request, p *openParams, id string, replay, created bool) {
	s := &session{
		replay: replay, created: created, tools: map[string]*toolCall{}, requests: map[string]*call{},
		shown: map[string]string{},
	}
	s.opened = func(err *protocol.Error) {
		s.opened = nil
		if err != nil {
			c.fail(r.ID, errorOf(err))
			return
		}
		c.answer(r.ID, c.openResult(s))
		c.sendStart(s)
		if len(p.Servers) > 0 {
			c.note(s, nil, protocol.LevelWarning, "MCP servers of the editor are not used: name them in the server's configuration")
		}
	}
	d := protocol.SubscribeData{FoldMS: min(c.hello.Limits.FoldMS, maxFold)}
	if replay {
		d.Position = &protocol.Position{}
	}
	c.Request(protocol.DoSubscribe, id, "", d, func(a protocol.Answer) {
		at, err := codec.DecodeResult[protocol.SubscribeResult](a)
		if err == nil && c.sessions[at.Session] != nil {
			c.abandon(c.sessions[at.Session], protocol.Errorf(protocol.CodeConflict, "the session was opened again"))
		}
		if err != nil {
			s.opened(err)
			return
		}
		s.Start(&at)
		c.sessions[s.Session] = s
	})
}

// openResult returns the result of the request that opened a session.
func (c *Conn) openResult(s *session) object {
	result := object{
		"sessionId": s.Session, "configOptions": c.configOptions(s.State.Options),
		"_meta": c.meta(object{"position": s.Position().String(), "agent": s.State.Agent}),
	}
	if modes := modesOf(s.State.Options); modes != nil && c.version == 1 {
		result["modes"] = modes
	}
	if c.version == 2 {
		result["availableCommands"] = c.commands(s.State.Options)
	}
	return result
}

// sendStart sends what the client needs to know of an open session, in addition to the result of its
// request.
func (c *Conn) sendStart(s *session) {
	if c.version == 1 {
		c.update(s, nil, object{
			"sessionUpdate": "available_commands_update", "availableCommands": c.commands(s.State.Options),
		})
	}
	if c.version == 2 {
		c.sendState(s, nil)
	}
	if s.State.Title != "" || s.State.Name != "" {
		c.sendTitle(s, nil)
	}
	c.sendUsage(s, nil)
	if t := s.State.Turn; t != nil && !s.replay {
		for _, tool := range t.Tools {
			c.startTool(s, nil, &protocol.ToolStartedData{Tool: tool.Tool, Name: tool.Name, Kind: tool.Kind, Title: tool.Title})
		}
	}
	for i := range s.State.Approvals {
		c.ask(s, &s.State.Approvals[i])
	}
}

// meta returns agentctl's part of the extensions of a message.
func (c *Conn) meta(fields object) object { return object{"agentctl": fields} }

// listSessions lists the sessions that are not closed, except those of sub-agents, in one page.
func (c *Conn) listSessions(r *request) {
	p, ok := decode[struct {
		CWD string `json:"cwd"`
	}](c, r)
	if !ok {
		return
	}
	c.Request(protocol.DoList, "", "", nil, func(a protocol.Answer) {
		all, err := codec.DecodeResult[protocol.ListResult](a)
		if err != nil {
			c.fail(r.ID, errorOf(err))
			return
		}
		list := []object{}
		for i := range all.Sessions {
			s := &all.Sessions[i]
			if s.SubAgent || p.CWD != "" && s.CWD != p.CWD {
				continue
			}
			list = append(list, object{
				"sessionId": s.Session, "cwd": s.CWD, "title": titleOf(s.Title, s.Name),
				"updatedAt": s.Updated.UTC().Format(time.RFC3339),
				"_meta":     c.meta(object{"name": s.Name, "agent": s.Agent, "status": s.Status, "clients": s.Clients}),
			})
		}
		c.answer(r.ID, object{"sessions": list})
	})
}

// titleOf returns the title of a session for the client: null if it has none.
func titleOf(title, name string) any {
	switch {
	case title != "":
		return title
	case name != "":
		return name
	}
	return nil
}

// closeSession detaches the client from a session, which continues. A session that never got a
// message ends.
func (c *Conn) closeSession(r *request) {
	if s := c.sessions[sessionOf(r.Params)]; s != nil {
		c.abandon(s, nil)
		if !c.discardUnused(s) {
			c.Request(protocol.DoUnsubscribe, s.Session, "", nil, nil)
		}
	}
	c.answer(r.ID, object{})
}

// discardUnused removes a session that this connection created and that never got a message. It
// reports whether it does.
func (c *Conn) discardUnused(s *session) bool {
	st := s.State
	if !s.created || len(s.prompts) > 0 || st.Turns > 0 || st.Turn != nil || len(st.Queue) > 0 ||
		len(st.Scheduled) > 0 || st.Closed {
		return false
	}
	c.Request(protocol.DoClose, s.Session, c.Options.ID("acp"), protocol.CloseData{Delete: true}, nil)
	return true
}

// abandon forgets a session. Prompts without an end are answered with err; nil: cancelled.
func (c *Conn) abandon(s *session, err *protocol.Error) {
	delete(c.sessions, s.Session)
	for _, call := range s.requests {
		c.withdraw(call)
	}
	if s.opened != nil {
		s.opened(protocol.Errorf(protocol.CodeNotSubscribed, "the session was closed"))
	}
	prompts := s.prompts
	s.prompts = nil
	for _, p := range prompts {
		c.endPrompt(p, "cancelled", err)
	}
}

// deleteSession archives a session: it ends and stays readable.
func (c *Conn) deleteSession(r *request) {
	p, ok := decode[openParams](c, r)
	if !ok {
		return
	}
	c.change(r, protocol.DoClose, p.Session, protocol.CloseData{}, func() object { return object{} })
}

// change sends a command that changes a session, and answers the request with the result.
func (c *Conn) change(r *request, verb protocol.Verb, session string, data any, result func() object) {
	c.Request(verb, session, c.Options.ID("acp"), data, func(a protocol.Answer) {
		if a.Error != nil {
			c.fail(r.ID, errorOf(a.Error))
			return
		}
		c.answer(r.ID, result())
	})
}
