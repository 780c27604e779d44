package multiagent

import (
	"time"

	"agentctl/protocol"
)

// message takes a message of the server.
func (c *Client) message(data []byte) {
	h := hear(data)
	kind := h.kind()
	switch kind {
	case typePong:
		if len(c.pings) > 0 {
			c.desk.Answer(c.out, c.pings[0], protocol.Empty{})
			c.pings = c.pings[1:]
		}
		return
	case typeStarted:
		c.created(h)
		return
	case typeError:
		c.fault(h, data)
		return
	}
	id := h.conversation()
	t := c.heardOf(id)
	if t == nil {
		if id == "" {
			c.raw(c.last, kind, data)
		}
		return // another's conversation: there is no log that could keep it
	}
	t.over = time.Time{}
	b := h.body()
	switch kind {
	case typeChunk:
		c.hears(t, b.word("messageId"), b.word("agentName"), b.text("chunk"))
	case typeComplete:
		c.completed(t, b)
	case typeAsk:
		c.asked(t, b, data)
	case typeExecuted:
		c.executed(t, b)
	case typeThought:
		c.thinks(t, b)
	case typeSelected:
		if name := b.word("agent_name"); name != "" {
			t.agent = name
			c.add(t, protocol.SessionUpdated, nil, protocol.SessionUpdatedData{Agent: &name})
			return
		}
		c.raw(t, kind, data)
	default:
		c.raw(t, kind, data)
	}
}

// fault takes an error: it answers what waits for one, else it ends the turn.
func (c *Client) fault(h heard, data []byte) {
	b := h.body()
	code, message := b.word("code"), clip(b.text("message"))
	if message == "" {
		message = clip(h.text("error"))
	}
	id := h.conversation()
	t := c.heardOf(id)
	if t == nil {
		if len(c.creating) > 0 {
			made := c.creating[0]
			c.creating = c.creating[1:]
			c.fail(made.command, native(code, message, protocol.CodeNoAgent))
			return
		}
		if id == "" {
			t = c.suspect()
		}
	}
	if t == nil {
		c.raw(c.last, typeError, data)
		return
	}
	t.over = time.Time{}
	switch code {
	case cancelled:
		c.cancelled(t)
		return
	case rejected, executeFailed, rejectFailed:
		if w := t.waiting(protocol.DoApprove); w != nil && t.unwait(w) {
			c.unapproved(t, w, code, message)
			return
		}
	case streamError, requestFailed:
		if w := t.waiting(""); w != nil && w.verb == protocol.DoSend {
			c.refused(t, w, code, message)
			return
		}
		if t.turn != nil {
			c.broken(t, code, message)
			return
		}
	}
	switch w := t.waiting(""); {
	case w != nil:
		c.refused(t, w, code, message)
	case code == rejected && t.rejected(): // said already
	case code == rejected, t.turn != nil && (code == executeFailed || code == rejectFailed) && !t.turn.command:
		c.raw(t, typeError, data) // the turn goes on
	case t.turn != nil:
		c.broken(t, code, message)
	default:
		c.raw(t, typeError, data)
	}
}

// rejected reports whether the newest decision was a rejection.
func (t *thread) rejected() bool {
	return len(t.done) > 0 && t.done[len(t.done)-1].winner.Outcome == protocol.Denied
}

// suspect returns the thread that an error without a conversation may be about: one that waits for an answer, or the only one
// with a turn.
func (c *Client) suspect() *thread {
	var found *thread
	for _, t := range c.memory.threads {
		if len(t.waits) > 0 {
			return t
		}
		if t.turn != nil {
			if found != nil {
				return nil
			}
			found = t
		}
	}
	return found
}

// refused answers what waits with an error.
func (c *Client) refused(t *thread, w *wait, code, message string) {
	if !t.unwait(w) {
		return
	}
	missing := protocol.CodeNoSession
	switch w.verb {
	case protocol.DoApprove:
		missing = protocol.CodeNotFound
	case protocol.DoInterrupt:
		if code == notFound { // no stream is active, whatever we think
			if t.turn != nil && (w.turn == "" || w.turn == t.turn.id) {
				c.after(t, w.queue)
				c.end(t, protocol.TurnEndedData{Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: message})
			}
			c.settle(w.command, protocol.InterruptResult{})
			c.proceed(t)
			return
		}
	}
	c.fail(w.command, native(code, message, missing))
	c.proceed(t)
}

// broken ends the turn with an error.
func (c *Client) broken(t *thread, code, message string) {
	e := native(code, message, protocol.CodeNoSession)
	c.add(t, protocol.ErrorRaised, nil, protocol.ErrorData{Kind: protocol.ErrorKindExecution, Code: e.Code, Message: e.Message, Details: details(code)})
	c.end(t, protocol.TurnEndedData{Reason: protocol.ReasonError, Code: e.Code, Message: e.Message})
	c.proceed(t)
}

func details(code string) map[string]string {
	if code == "" {
		return nil
	}
	return map[string]string{"code": code}
}

// cancelled ends the turn, once: the real system says it twice.
func (c *Client) cancelled(t *thread) {
	if t.quiet {
		return
	}
	t.quiet = true
	if w := t.waiting(protocol.DoSend); w != nil && t.unwait(w) {
		c.accept(t, w)
	}
	r := protocol.InterruptResult{Interrupted: true}
	if t.turn != nil {
		r.Turn = t.turn.id
	}
	var who []*wait
	for w := t.waiting(protocol.DoInterrupt); w != nil; w = t.waiting(protocol.DoInterrupt) {
		t.unwait(w)
		c.after(t, w.queue)
		who = append(who, w)
	}
	if t.turn != nil {
		why := protocol.ReasonInterrupted
		if t.turn.denied {
			why = protocol.ReasonDenied
		}
		c.end(t, protocol.TurnEndedData{Reason: why})
	}
	for _, w := range who {
		c.settle(w.command, r)
	}
	quiet := t.quiet
	c.proceed(t)
	t.quiet = quiet // also when the next message went out: nothing was heard yet
}
