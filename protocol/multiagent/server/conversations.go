package server

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// Bounds of the conversations of one connection.
const (
	maxConversations  = 256
	maxQueuedMessages = 64 // of a conversation before it is ready
)

// conversations are the sessions that a foreign client uses: it subscribes to them, and translates
// their events for the client.
type conversations struct {
	x         *exchange
	byName    map[string]*conversation // the client's name
	bySession map[string]*conversation
}

// with calls do with a conversation once it is subscribed and caught up.
func (l *conversations) with(id string, do func(*conversation)) {
	c := l.byName[id]
	switch {
	case c != nil && c.ready:
		do(c)
		return
	case c != nil && len(c.waiting) >= maxQueuedMessages:
		l.x.sendError(id, wire.CodeBadRequest, "too many messages wait for that conversation")
		return
	case c != nil:
		c.waiting = append(c.waiting, do)
		return
	case len(l.byName) >= maxConversations:
		l.x.sendError(id, wire.CodeBadRequest, "too many conversations on this connection")
		return
	}
	c = &conversation{id: id, waiting: []func(*conversation){do}, keys: map[string]string{}}
	l.byName[id] = c
	l.subscribe(c, id, nil)
}

// subscribe subscribes to the session of a conversation.
func (l *conversations) subscribe(c *conversation, name string, at *protocol.Position) {
	l.x.command(protocol.DoSubscribe, name, "", protocol.SubscribeData{Position: at}, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.SubscribeResult](a)
		if err != nil {
			l.drop(c, foreignCode(err.Code, wire.CodeStreamError), err.Message)
			return
		}
		l.handleSubscribed(c, &r)
	})
}

func (l *conversations) handleSubscribed(c *conversation, r *protocol.SubscribeResult) {
	if known := l.bySession[r.Session]; known != nil && known != c {
		// The client has two names for one session: restart its subscription at the current
		// position.
		l.byName[c.id] = known
		known.resubscribing = true
		l.subscribe(known, r.Session, &protocol.Position{Epoch: r.Position.Epoch, Seq: known.seq})
		known.waiting = append(known.waiting, c.waiting...)
		if known.ready {
			known.catchUp()
		}
		return
	}
	c.session, c.resubscribing = r.Session, false
	l.bySession[r.Session] = c
	if r.Snapshot != nil && r.Snapshot.State != nil {
		l.x.Send(c.load(r.Snapshot.State)...)
	}
}

// drop removes a conversation that does not exist. It sends one error for each waiting message.
func (l *conversations) drop(c *conversation, code, message string) {
	for name, known := range l.byName {
		if known == c {
			delete(l.byName, name)
		}
	}
	if l.bySession[c.session] == c {
		delete(l.bySession, c.session)
	}
	for range max(1, len(c.waiting)) {
		l.x.sendError(c.id, code, message)
	}
}

// handleEvent handles an event of agentctl's server.
func (l *conversations) handleEvent(e *protocol.Event) {
	c := l.bySession[e.Session]
	if c == nil {
		return
	}
	if e.Durable() {
		l.x.Send(c.encode(e)...)
		return
	}
	if _, ended := l.x.Unsubscribed(e); ended {
		l.drop(c, wire.CodeNotFound, "the conversation no longer exists")
	} else if e.Type == protocol.CaughtUp && !c.ready {
		c.catchUp()
	}
}
