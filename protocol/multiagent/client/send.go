package client

import (
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/multiagent/wire"
)

// A turnStart is the start of a turn in the log.
type turnStart struct {
	turn string
	seq  uint64
}

// failUnconfirmed fails a message that may have arrived. Its key is not used again. One that waited
// in the queue has no sender any more, so a notice reports it.
func (c *Conn) failUnconfirmed(s *session, req *request) {
	err := protocol.Errorf(protocol.CodeTimeout,
		"the server did not confirm the message: look whether it arrived before you send it again")
	c.saveError(req.command, err)
	c.fail(req.command, err)
	if req.command == nil {
		c.warn(s, err.Message)
	}
}

// warn records a warning.
func (c *Conn) warn(s *session, text string) {
	c.record(s, protocol.Notice, nil, protocol.NoticeData{Level: protocol.LevelWarning, Message: clipText(text)})
}

// sendMessage sends the user message of a request. Its sender gets the answer when the server has
// the message.
func (c *Conn) sendMessage(s *session, req *request) {
	req.verb = protocol.DoSend
	if c.Options.PeerIsAgentctl {
		req.key = req.message.MessageID
	}
	c.transmit(s, req)
}

// transmit sends the message of a request, the first time or again.
func (c *Conn) transmit(s *session, req *request) {
	s.cancelSeen = false
	s.updatesRequested = true
	req.sent.turns = s.log.State.Turns
	req.sent.at, req.deadline = c.Now, c.Now.Add(errorTimeout)
	if req.key != "" {
		req.deadline = c.Now.Add(sendTimeout)
	}
	c.addRequest(s, req)
	f := wire.Frame{
		Type: wire.TypeSend, Conversation: s.log.Session,
		Payload: wire.SendPayload{Content: req.message.Text, Thinking: c.Options.Options["thinking"] == "true"},
	}
	if req.key != "" {
		f.Note = &wire.Note{Key: req.key}
	}
	c.send(f)
	if req.key == "" {
		c.ping(ping{session: s, request: req}, "")
	}
}

// confirmSend notes that the server has read a message. An error may still follow.
func (c *Conn) confirmSend(s *session, req *request) {
	req.arrived = true
	req.deadline = req.sent.at.Add(errorTimeout)
	if (req.started != nil || !c.Now.Before(req.deadline)) && s.removeRequest(req) {
		c.acceptSend(s, req)
	}
}

// acceptSend answers the sender of a message that the server accepted, and starts its turn. A turn
// that is over is the last one that ended since, or it was not seen.
func (c *Conn) acceptSend(s *session, req *request) {
	switch {
	case req.started != nil:
	case req.key != "" && s.turn != nil: // its output came first
		req.started = &turnStart{turn: s.turn.id, seq: s.log.State.Turn.First}
	case req.over && s.log.State.Turns > req.sent.turns:
		req.started = &turnStart{turn: s.log.State.Last.Turn, seq: s.log.State.Seq}
	default:
		c.startTurn(s, req)
		if req.over {
			c.endLostTurn(s)
		}
	}
	r := protocol.SendResult{
		Status: protocol.SendStarted, MessageID: req.message.MessageID, Turn: req.started.turn, Seq: req.started.seq,
	}
	if req.created != nil {
		req.created.Message = &r
		c.answerCreate(s, req.command, req.created)
	} else {
		c.answerOnce(req.command, r)
	}
	c.sendNext(s)
}

// answerCreate answers a create command.
func (c *Conn) answerCreate(s *session, cmd *protocol.Command, r *protocol.CreateResult) {
	r.Position = protocol.Position{Epoch: s.log.Epoch, Seq: s.log.State.Seq}
	c.answerOnce(cmd, *r)
}

// handleAnswer handles an answer of agentctl's server to a message with a key.
func (c *Conn) handleAnswer(s *session, key string, data []byte) {
	a := wire.DecodeAnswer(data)
	req := s.takeKey(key)
	switch {
	case a == nil || req == nil:
	case req.verb == protocol.DoApprove && a.Error != nil:
		c.fail(req.command, a.Error)
	case req.verb == protocol.DoApprove:
		c.applyDecision(s, req)
	case a.Error != nil:
		c.refuseSend(s, req, a.Error)
	case a.Turn == wire.TurnQueued:
		c.answerOnce(req.command, protocol.SendResult{
			Status: protocol.SendQueued, MessageID: req.message.MessageID, Index: new(int), Seq: s.log.State.Seq,
		})
		req.command = nil
		c.expect(s, req)
	case a.Turn == wire.TurnBegins:
		c.expect(s, req)
	default:
		if req.over = a.Turn == wire.TurnOver; req.started == nil {
			req.started = s.findEnded(a.Output)
		}
		c.acceptSend(s, req)
	}
}

// expect keeps a message that the server has until its turn begins. Its sender may still wait for
// that.
func (c *Conn) expect(s *session, req *request) {
	if len(s.accepted) < maxRequests {
		s.accepted = append(s.accepted, req)
	}
	c.sendNext(s)
}

// refuseSend fails a message that the server refused. One that waited in the queue has no sender
// any more, so a notice reports it.
func (c *Conn) refuseSend(s *session, req *request, err *protocol.Error) {
	c.fail(req.command, err)
	switch {
	case req.started != nil && s.turn != nil && s.turn.id == req.started.turn:
		c.endTurn(s, protocol.TurnEndedData{Reason: protocol.ReasonError, Code: err.Code, Message: err.Message})
	case req.command == nil:
		c.warn(s, "the server refused a message: "+err.Message)
	}
	c.sendNext(s)
}

// attach gives a command that is sent again to the request that the last connection began for it.
// The server may have accepted its message before the command comes.
func (c *Conn) attach(cmd *protocol.Command) bool {
	for _, s := range c.resume.sessions {
		for _, req := range slices.Concat(s.requests, s.accepted) {
			old := req.command
			if req.verb == protocol.DoSend && old != nil && old.ID == "" && cmd.Key != "" && old.Key == cmd.Key &&
				commandBody(old) == commandBody(cmd) {
				req.command = cmd
				return true
			}
		}
	}
	return false
}

// saveError saves the error of a command under its key: the command is not carried out again.
func (c *Conn) saveError(cmd *protocol.Command, err *protocol.Error) {
	if cmd != nil && cmd.Key != "" {
		c.resume.answers.Put(cmd.Key, savedAnswer{commandBody(cmd), err})
	}
}

// takeKey removes and returns the request whose message has a key, or nil.
func (s *session) takeKey(key string) (found *request) {
	take := func(list []*request) []*request {
		return slices.DeleteFunc(list, func(req *request) bool {
			same := key != "" && req.key == key
			if same {
				found = req
			}
			return same
		})
	}
	s.requests, s.accepted = take(s.requests), take(s.accepted)
	return found
}

// findUnanswered returns the first request that an error may answer, or nil: not a message whose
// turn has started.
func (s *session) findUnanswered() *request {
	for _, req := range s.requests {
		if req.started == nil {
			return req
		}
	}
	return nil
}
