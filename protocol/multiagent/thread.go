package multiagent

import (
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A thread is a conversation at our client's end.
type thread struct {
	name  string
	log   *codec.Log
	turn  *spoken // under way
	waits []*wait
	quiet bool              // a stream was cancelled and nothing came since: the real system says it twice
	done  []decided         // the newest last
	at    time.Time         // of the last event
	told  uint64            // the seq of the last summary
	agent string            // who speaks
	tools map[string]string // that run, by request
	taken bool              // up on this connection: a server of our kind tells of it
	over  time.Time         // when the turn is, if nothing more is said; zero: only its end ends it
}

// decided is a request that is over.
type decided struct {
	request string
	winner  protocol.Winner
}

// A wait is a message of ours that may be answered with an error.
type wait struct {
	command  *protocol.Command // nil: nobody waits for its answer
	verb     protocol.Verb
	deadline time.Time

	message  protocol.Message  // of send
	request  string            // of approve
	decision protocol.Decision // of approve
	reason   string            // of approve
	turn     string            // of interrupt
	queue    string            // of interrupt
}

// named returns the thread of that id, name or unique prefix of an id; nil when there is none.
func (c *Client) named(name string) *thread {
	var found *thread
	many := false
	for _, t := range c.memory.threads {
		switch {
		case t.log.Session == name, t.name == name:
			return t
		case strings.HasPrefix(t.log.Session, name):
			found, many = t, found != nil
		}
	}
	if many {
		return nil
	}
	return found
}

// thread returns the thread that a command is about. Any id may be that of a conversation: only what is said to it tells.
func (c *Client) thread(cmd *protocol.Command) (*thread, bool) {
	t := c.named(cmd.Session)
	if t == nil {
		t = c.begin(cmd.Session, protocol.SessionCreatedData{Agent: Name})
	}
	if t == nil {
		c.fail(cmd, &protocol.Error{
			Code: protocol.CodeTooMany, Message: "too many sessions for one client of this dialect", Limit: maxThreads,
		})
		return nil, false
	}
	c.last = t
	return t, true
}

// begin makes a thread; nil when there are too many.
func (c *Client) begin(id string, made protocol.SessionCreatedData) *thread {
	if len(c.memory.threads) >= maxThreads {
		return nil
	}
	t := &thread{name: made.Name, log: codec.NewLog(id, c.desk.Epoch), agent: made.Agent, tools: map[string]string{}}
	t.log.ResetReason = protocol.ResetResubscribed
	c.memory.threads = append(c.memory.threads, t)
	c.add(t, protocol.SessionCreated, nil, made)
	return t
}

// heardOf returns the thread of a conversation that the server speaks of, or nil.
func (c *Client) heardOf(id string) *thread {
	i := slices.IndexFunc(c.memory.threads, func(t *thread) bool { return t.log.Session == id })
	if i < 0 {
		return nil
	}
	c.last = c.memory.threads[i]
	return c.last
}

// add records what happened in a thread, in its turn if there is one.
func (c *Client) add(t *thread, typ protocol.Type, by *protocol.Actor, data any) {
	t.at = c.now
	e := codec.Entry{Type: typ, By: by, Data: data}
	if t.turn != nil {
		e.Turn = t.turn.id
	}
	switch typ {
	case protocol.QueueAdded, protocol.QueueUpdated, protocol.QueueRemoved, protocol.QueueMoved, protocol.QueueHeld,
		protocol.QueueReleased, protocol.SessionCreated, protocol.SessionUpdated:
		e.Turn = ""
	}
	t.log.Add(c.out, c.now, e)
}

func (t *thread) summary() protocol.Summary {
	s := t.log.Summary()
	if !t.at.IsZero() {
		s.Updated = t.at
	}
	if t.log.State.Last != nil {
		s.Reason = t.log.State.Last.Reason
	}
	return s
}

// wait waits for an error, or for the time after which there is none.
func (c *Client) wait(t *thread, w *wait) { t.waits = append(t.waits, w) }

// takeUp asks a server of our kind to tell of a conversation from now on; any other says PONG. False when it tells already.
func (c *Client) takeUp(t *thread) bool {
	if t.taken {
		return false
	}
	t.taken = true
	c.say(frame{Type: typePing, Conversation: t.log.Session})
	return true
}

// unwait takes a wait away; false when it is gone already.
func (t *thread) unwait(w *wait) bool {
	i := slices.Index(t.waits, w)
	if i < 0 {
		return false
	}
	t.waits = slices.Delete(t.waits, i, i+1)
	return true
}

// waiting returns the first wait of a verb, or nil. An empty verb is any.
func (t *thread) waiting(verb protocol.Verb) *wait {
	for _, w := range t.waits {
		if verb == "" || w.verb == verb {
			return w
		}
	}
	return nil
}

// patient ends a wait that no error ended.
func (c *Client) patient(t *thread, w *wait) {
	switch w.verb {
	case protocol.DoSend:
		c.accept(t, w)
	case protocol.DoSnapshot: // who looks has seen what there is
		c.command(w.command)
	case protocol.DoApprove:
		c.decide(t, w)
	case protocol.DoInterrupt:
		if t.turn == nil || w.turn != "" && t.turn.id != w.turn {
			c.settle(w.command, protocol.InterruptResult{})
			return
		}
		c.fail(w.command, protocol.Errorf(protocol.CodeTimeout, "the server did not say that the stream ended"))
	}
}

// resume makes a thread of an earlier connection fit for this one. What was sent counts as sent; what was said since is unknown.
func (c *Client) resume(t *thread) {
	waits := t.waits
	t.waits, t.quiet, t.taken = nil, false, false
	for _, w := range waits {
		if w.verb == protocol.DoSend {
			w.command = forKey(w.command)
			c.accept(t, w)
		}
	}
	if t.turn != nil {
		c.end(t, protocol.TurnEndedData{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: "the connection was lost: what came since is not known",
		})
	}
	c.proceed(t)
}

// forKey is a command whose answer is kept for its key, and given to nobody now.
func forKey(cmd *protocol.Command) *protocol.Command {
	if cmd == nil {
		return nil
	}
	kept := *cmd
	kept.ID = ""
	return &kept
}
