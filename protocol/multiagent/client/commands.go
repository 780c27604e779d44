package client

import (
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// verbs lists the commands that the dialect carries, or that the client end implements itself.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoWatch, protocol.DoList, protocol.DoSnapshot,
	protocol.DoHistory, protocol.DoCreate, protocol.DoSend, protocol.DoInterrupt, protocol.DoApprove,
	protocol.DoQueueEdit, protocol.DoQueueRemove, protocol.DoQueueMove, protocol.DoQueueHold, protocol.DoQueueRelease,
}

// localVerbs lists the commands on state that only the client keeps. A one-shot client has none.
var localVerbs = []protocol.Verb{
	protocol.DoList, protocol.DoHistory,
	protocol.DoQueueEdit, protocol.DoQueueRemove, protocol.DoQueueMove, protocol.DoQueueHold, protocol.DoQueueRelease,
}

// NoQueue is the reason why no command changes the queue.
const NoQueue = "the server's queue cannot be changed, only an attached client's"

// unsupportedReasons explains the rejection of a command.
var unsupportedReasons = map[protocol.Verb]string{
	protocol.DoList:         "it has no list of sessions, name one",
	protocol.DoHistory:      "its server has no history",
	protocol.DoQueueEdit:    NoQueue,
	protocol.DoQueueRemove:  NoQueue,
	protocol.DoQueueMove:    NoQueue,
	protocol.DoQueueHold:    NoQueue,
	protocol.DoQueueRelease: NoQueue,
}

// Responder declares the commands that the client supports.
var Responder = codec.Responder{
	Dialect: wire.Name, Verbs: verbs, LocalVerbs: localVerbs, Reasons: unsupportedReasons, ForwardsPing: true,
}

// textOnly names the unsupported kinds of content.
const textOnly = "message parts other than text"

// handleCommand executes a command of the client.
func (c *Conn) handleCommand(cmd *protocol.Command) {
	if c.repeatAnswer(cmd) || c.attach(cmd) {
		return
	}
	switch cmd.Command {
	case protocol.DoPing:
		c.ping(ping{command: cmd}, "")
		return
	case protocol.DoCreate:
		c.handleCreate(cmd)
		return
	case protocol.DoList:
		c.Answer(cmd, c.listSessions())
		return
	case protocol.DoWatch:
		c.handleWatch(cmd)
		return
	}
	s, ok := c.sessionFor(cmd)
	if !ok {
		return
	}
	switch cmd.Command {
	case protocol.DoSubscribe:
		// a turn may end before the client has caught up
		if c.Options.OneShot && s.awaitState(cmd) {
			return
		}
	case protocol.DoSnapshot, protocol.DoHistory, protocol.DoApprove:
		if s.awaitState(cmd) { // learn the current state first
			return
		}
	}
	s.handleCommand(cmd)
}

// attach gives a command that is sent again to the message that the last connection began for it,
// and reports whether there is one.
func (c *Conn) attach(cmd *protocol.Command) bool {
	return slices.ContainsFunc(c.resume.sessions, func(s *session) bool { return s.outbox.attach(cmd) })
}

func (c *Conn) listSessions() protocol.ListResult {
	r := protocol.ListResult{Sessions: []protocol.Summary{}}
	for _, s := range c.resume.sessions {
		r.Sessions = append(r.Sessions, s.log.summary())
	}
	return r
}

func (c *Conn) handleWatch(cmd *protocol.Command) {
	var d protocol.WatchData
	if !c.DecodeData(cmd, &d) {
		return
	}
	c.Watching = !d.Off
	r := protocol.ListResult{Sessions: []protocol.Summary{}}
	if c.Watching {
		r = c.listSessions()
	}
	for _, s := range c.resume.sessions {
		s.log.publishedSeq = s.log.State.Seq
	}
	c.Answer(cmd, r)
}

// sessionFor returns the session of a command. It accepts any id: only the server's answer to a
// message reveals whether the conversation exists.
func (c *Conn) sessionFor(cmd *protocol.Command) (*session, bool) {
	s := c.resume.sessions.find(cmd.Session)
	if s == nil {
		s = c.addSession(cmd.Session, protocol.SessionCreatedData{Agent: wire.Name})
	}
	if s == nil {
		c.Fail(cmd, tooManySessions())
		return nil, false
	}
	c.lastSession = s
	return s, true
}

func tooManySessions() *protocol.Error {
	return &protocol.Error{
		Code: protocol.CodeTooMany, Message: "too many sessions for one client of this dialect", Limit: maxSessions,
	}
}

// addSession adds a session; nil if there are too many.
func (c *Conn) addSession(id string, d protocol.SessionCreatedData) *session {
	if len(c.resume.sessions) >= maxSessions {
		return nil
	}
	s := newSession(id, d.Name, d.Agent, c.exchange)
	c.resume.sessions = append(c.resume.sessions, s)
	s.log.record(codec.Entry{Type: protocol.SessionCreated, Data: d})
	return s
}
