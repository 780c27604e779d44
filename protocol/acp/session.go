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
	feed
	opened      func(*protocol.Error) // answers the request that opens the session; nil afterwards
	replay      bool                  // the events before caught_up are sent too
	created     bool                  // by this connection
	prompts     prompts
	tools       toolCalls
	permissions permissions
}

func newSession(c *client, asks *calls) *session {
	s := &session{feed: feed{client: c}}
	s.prompts.feed, s.tools.feed, s.permissions.feed, s.permissions.calls = &s.feed, &s.feed, &s.feed, asks
	return s
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
	p, ok := decode[openParams](&c.client, r)
	if !ok || !c.allowOpen(r) {
		return
	}
	if c.fixed.Session != "" {
		c.open(r, &p, c.fixed.Session, true, false)
		return
	}
	d := protocol.CreateData{Agent: c.fixed.Agent, CWD: p.CWD, Check: true, DiscardUnused: true}
	if c.fixed.CWD != "" {
		d.CWD = c.fixed.CWD
	}
	if c.hello.Role.MayNameMCPServers() {
		d.MCPServers, _ = decodeServers(p.Servers)
	}
	c.make(r, &p, protocol.DoCreate, "", d)
}

func (c *Conn) forkSession(r *request) {
	if p, ok := decode[openParams](&c.client, r); ok && c.allowOpen(r) {
		c.make(r, &p, protocol.DoFork, p.Session, protocol.ForkData{})
	}
}

// make makes a session and opens it.
func (c *Conn) make(r *request, p *openParams, verb protocol.Verb, from string, data any) {
	c.Request(verb, from, c.Options.ID("acp"), data, func(a protocol.Answer) {
		made, err := codec.DecodeResult[protocol.CreateResult](a)
		d, creates := data.(protocol.CreateData)
		if creates && d.DiscardUnused && err != nil && strings.Contains(err.Message, "unknown field") { // an earlier server
			d.DiscardUnused, d.MCPServers = false, nil
			c.make(r, p, verb, from, d)
			return
		}
		if err != nil {
			if verb == protocol.DoCreate && strings.Contains(err.Message, p.CWD) && p.CWD != "" {
				err.Message += "; to choose a directory of the server: agentctl acp --cwd DIR"
			}
			c.fail(r.ID, errorOf(err))
			return
		}
		if c.ended && verb == protocol.DoCreate {
			c.Request(protocol.DoClose, made.Session, c.Options.ID("acp"), protocol.CloseData{Delete: true}, nil)
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
	if p, ok := decode[openParams](&c.client, r); ok && c.allowOpen(r) {
		c.open(r, &p, p.Session, true, false)
	}
}

func (c *Conn) resumeSession(r *request) {
	if p, ok := decode[openParams](&c.client, r); ok && c.allowOpen(r) {
		c.open(r, &p, p.Session, p.Replay != nil, false)
	}
}

// open subscribes to a session and answers the request when the client has caught up. With replay the
// client gets the whole conversation before.
func (c *Conn) open(r *request, p *openParams, id string, replay, created bool) {
	s := newSession(&c.client, &c.calls)
	s.replay, s.created = replay, created
	s.opened = func(err *protocol.Error) {
		s.opened = nil
		if err != nil {
			c.fail(r.ID, errorOf(err))
			return
		}
		c.answer(r.ID, s.openResult())
		s.sendStart()
		s.noteServers(p.Servers)
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
func (s *session) openResult() object {
	result := object{
		"sessionId": s.Session, "configOptions": configOptions(s.client.version, s.State.Options),
		"_meta": meta(object{"position": s.Position().String(), "agent": s.State.Agent}),
	}
	if modes := modesOf(s.State.Options); modes != nil && s.client.version == 1 {
		result["modes"] = modes
	}
	if s.client.version == 2 {
		result["availableCommands"] = commandList(s.client.version, s.State.Options)
	}
	return result
}

// sendStart sends what the client needs to know of an open session, in addition to the result of its
// request.
func (s *session) sendStart() {
	if s.client.version == 1 {
		s.update(nil, object{
			"sessionUpdate": "available_commands_update", "availableCommands": commandList(s.client.version, s.State.Options),
		})
	}
	if s.client.version == 2 {
		s.sendState(nil)
	}
	if s.State.Title != "" || s.State.Name != "" {
		s.sendTitle(nil)
	}
	s.sendUsage(nil)
	if t := s.State.Turn; t != nil && !s.replay {
		for _, tool := range t.Tools {
			s.tools.start(nil, &protocol.ToolStartedData{Tool: tool.Tool, Name: tool.Name, Kind: tool.Kind, Title: tool.Title})
		}
	}
	s.permissions.sync()
}

// listSessions lists the sessions that are not closed, except those of sub-agents, in one page.
func (c *Conn) listSessions(r *request) {
	p, ok := decode[struct {
		CWD string `json:"cwd"`
	}](&c.client, r)
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
				"_meta":     meta(object{"name": s.Name, "agent": s.Agent, "status": s.Status, "clients": s.Clients}),
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
		if !s.discardUnused() {
			c.Request(protocol.DoUnsubscribe, s.Session, "", nil, nil)
		}
	}
	c.answer(r.ID, object{})
}

// discardUnused removes a session that this connection created and that never got a message. It
// reports whether it does.
func (s *session) discardUnused() bool {
	st := s.State
	if !s.created || len(s.prompts.list) > 0 || st.Turns > 0 || st.Turn != nil || len(st.Queue) > 0 ||
		len(st.Scheduled) > 0 || st.Closed {
		return false
	}
	c := s.client
	c.Request(protocol.DoClose, s.Session, c.Options.ID("acp"), protocol.CloseData{Delete: true}, nil)
	return true
}

// abandon forgets a session. Prompts without an end are answered with err; nil: cancelled.
func (c *Conn) abandon(s *session, err *protocol.Error) {
	delete(c.sessions, s.Session)
	s.abandoned = true
	for request := range s.permissions.asked {
		s.permissions.withdraw(request)
	}
	if s.opened != nil {
		s.opened(protocol.Errorf(protocol.CodeNotSubscribed, "the session was closed"))
	}
	s.prompts.endAll(func(*prompt) bool { return true }, "cancelled", err)
}

// deleteSession archives a session: it ends and stays readable.
func (c *Conn) deleteSession(r *request) {
	p, ok := decode[openParams](&c.client, r)
	if !ok {
		return
	}
	c.change(r, protocol.DoClose, p.Session, protocol.CloseData{}, func() object { return object{} })
}

// applyEvent applies an event to its session, and sends the client what it means.
func (c *Conn) applyEvent(e *protocol.Event) {
	s := c.sessions[e.Session]
	if s == nil {
		return
	}
	if !e.Durable() {
		if e.Type == protocol.CaughtUp && s.opened != nil {
			s.opened(nil)
		}
		if why, ended := c.Unsubscribed(e); ended {
			c.abandon(s, protocol.Errorf(why, "the session cannot be followed any more"))
		}
		return
	}
	if s.Known(e) {
		return
	}
	s.Apply(e)
	s.prompts.apply(e)
	if e.Type == protocol.ApprovalResolved {
		s.permissions.withdraw(codec.DecodeEvent[protocol.ApprovalResolvedData](e).Request)
	}
	if s.opened == nil || s.replay {
		s.send(e)
		if e.Type == protocol.SessionClosed {
			c.abandon(s, protocol.Errorf(protocol.CodeSessionClosed, "the session was closed"))
		}
	}
}

// Reset replaces the state of a session whose log differs from what the client has seen. The turns
// that ended since are lost to the client.
func (c *Conn) Reset(now time.Time, r *protocol.SubscribeResult) codec.Output {
	return c.run(now, func() {
		s := c.sessions[r.Session]
		if s == nil {
			return
		}
		s.State = nil
		s.Start(r)
		lost := func(p *prompt) bool { return s.State.Turn == nil || s.State.Turn.Turn != p.turn }
		s.prompts.endAll(lost, "", protocol.Errorf(protocol.CodeServerRestart, "the log of the session was replaced"))
		s.permissions.sync()
		s.note(nil, protocol.LevelWarning, "the log of the session was replaced: load the session again to see all of it")
	})
}
