package client

import (
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// An outbox sends the user messages of a session, one at a time, and begins their turns.
type outbox struct {
	x        *exchange
	log      *sessionLog
	requests *requests
	turns    *turns
	accepted []*request // messages that agentctl's server has, and whose turn has not begun
}

// isIdle reports whether a message can be sent without waiting in the queue.
func (o *outbox) isIdle() bool {
	st := o.log.State
	return o.turns.current == nil && o.requests.find(protocol.DoSend) == nil && len(st.Queue) == 0 &&
		st.BlockingHold() == nil
}

// send sends the user message of a request. Its sender gets the answer when the server has the
// message.
func (o *outbox) send(req *request) {
	req.verb = protocol.DoSend
	if o.x.Options.PeerIsAgentctl {
		req.key = req.message.MessageID
	}
	o.transmit(req)
}

// transmit sends the message of a request, the first time or again.
func (o *outbox) transmit(req *request) {
	o.turns.cancelSeen, o.requests.updates = false, true
	req.sent.turns = o.log.State.Turns
	req.sent.at, req.deadline = o.x.Now, o.x.Now.Add(errorTimeout)
	if req.key != "" {
		req.deadline = o.x.Now.Add(sendTimeout)
	}
	o.requests.add(req)
	f := wire.Frame{
		Type: wire.TypeSend, Conversation: o.log.Session,
		Payload: wire.SendPayload{Content: req.message.Text, Thinking: o.x.Options.Options["thinking"] == "true"},
	}
	if req.key != "" {
		f.Note = &wire.Note{Key: req.key}
	}
	o.x.send(f)
	if req.key == "" {
		o.x.ping(ping{outbox: o, request: req}, "")
	}
}

// sendNext sends the first queued message if nothing blocks it.
func (o *outbox) sendNext() {
	if o.turns.current != nil || o.requests.find(protocol.DoSend) != nil {
		return
	}
	if m := o.log.State.NextQueued(); m != nil {
		next := *m
		o.log.record(codec.Entry{Type: protocol.QueueRemoved, Data: protocol.QueueRemovedData{
			MessageID: next.MessageID, Reason: protocol.RemovedStarted,
		}})
		req := &request{message: next}
		o.send(req)
		if req.key == "" {
			o.startTurn(req)
		}
	}
}

// startTurn starts the turn of a message.
func (o *outbox) startTurn(req *request) {
	if o.turns.current != nil { // another client's turn started in between
		interrupted := protocol.TurnEndedData{Reason: protocol.ReasonInterrupted}
		o.log.record(o.turns.end(o.x.Now, o.log.State, interrupted)...)
	}
	events := o.turns.start(o.x.Now, req.message)
	o.log.record(events[0])
	req.started = &turnStart{turn: o.turns.id(), seq: o.log.State.Seq}
	o.log.record(events[1:]...)
}

// startAnsweredTurn starts the turn of the message just sent when the server sends its output.
// Output before an answer of agentctl's server is of another turn.
func (o *outbox) startAnsweredTurn() {
	if req := o.requests.find(protocol.DoSend); req != nil && req.key == "" {
		o.startPendingTurn()
	}
}

// startPendingTurn starts the turn of the message just sent, if it has not started.
func (o *outbox) startPendingTurn() {
	req := o.requests.find(protocol.DoSend)
	if req == nil || req.started != nil {
		return
	}
	o.startTurn(req)
	if req.arrived && o.requests.remove(req) {
		o.accept(req)
	}
}

// confirm notes that the server has read a message. An error may still follow.
func (o *outbox) confirm(req *request) {
	req.arrived = true
	req.deadline = req.sent.at.Add(errorTimeout)
	if (req.started != nil || !o.x.Now.Before(req.deadline)) && o.requests.remove(req) {
		o.accept(req)
	}
}

// accept answers the sender of a message that the server accepted, and starts its turn. If that
// turn is over, it is the last one that ended since, or it was not seen.
func (o *outbox) accept(req *request) {
	st := o.log.State
	switch {
	case req.started != nil:
	case req.key != "" && o.turns.current != nil: // its output came first
		req.started = &turnStart{turn: o.turns.id(), seq: st.Turn.First}
		if req.command == nil && !st.Turn.Has(req.message.MessageID) { // it was queued, and another client delivered it now
			joined := o.turns.event(protocol.MessageSteered, protocol.MessageSteeredData{Message: req.message})
			joined.By = req.message.By
			o.log.record(joined, o.turns.event(protocol.MessageResolved, protocol.MessageResolvedData{
				MessageID: req.message.MessageID, Outcome: protocol.SteerTakenIn,
			}))
		}
	case req.over && st.Turns > req.sent.turns:
		req.started = &turnStart{turn: st.Last.Turn, seq: st.Seq}
	default:
		o.startTurn(req)
		if req.over {
			o.log.record(o.turns.lose(o.x.Now, st)...)
		}
	}
	r := protocol.SendResult{
		Status: protocol.SendStarted, MessageID: req.message.MessageID, Turn: req.started.turn, Seq: req.started.seq,
	}
	if req.created != nil {
		req.created.Message = &r
		o.answerCreate(req.command, req.created)
	} else {
		o.x.answerOnce(req.command, r)
	}
	o.sendNext()
}

// answerCreate answers a create command.
func (o *outbox) answerCreate(cmd *protocol.Command, r *protocol.CreateResult) {
	r.Position = protocol.Position{Epoch: o.log.Epoch, Seq: o.log.State.Seq}
	o.x.answerOnce(cmd, *r)
}

// handleAnswer handles an answer of agentctl's server to a message, which is no longer in flight.
func (o *outbox) handleAnswer(req *request, a *wire.Answer) {
	switch {
	case a.Error != nil:
		o.refuse(req, a.Error)
	case a.Turn == wire.TurnQueued:
		o.x.answerOnce(req.command, protocol.SendResult{
			Status: protocol.SendQueued, MessageID: req.message.MessageID, Index: new(int), Seq: o.log.State.Seq,
		})
		req.command = nil
		o.expect(req)
	case a.Turn == wire.TurnBegins:
		o.expect(req)
	default:
		if req.over = a.Turn == wire.TurnOver; req.started == nil {
			req.started = o.turns.findEnded(a.Output)
		}
		o.accept(req)
	}
}

// expect keeps a message that the server has until its turn begins. Its sender may still wait for
// that.
func (o *outbox) expect(req *request) {
	if len(o.accepted) < maxRequests {
		o.accepted = append(o.accepted, req)
	}
	o.sendNext()
}

// refuse fails a message that the server refused. A message from the queue no longer has a sender,
// so a notice reports it.
func (o *outbox) refuse(req *request, err *protocol.Error) {
	o.x.fail(req.command, err)
	switch {
	case req.started != nil && o.turns.current != nil && o.turns.id() == req.started.turn:
		refused := protocol.TurnEndedData{Reason: protocol.ReasonError, Code: err.Code, Message: err.Message}
		o.log.record(o.turns.end(o.x.Now, o.log.State, refused)...)
	case req.command == nil:
		o.warn("the server refused a message: " + err.Message)
	}
	o.sendNext()
}

// failUnconfirmed fails a message that may have arrived. Its key is not used again. A message from
// the queue no longer has a sender, so a notice reports it.
func (o *outbox) failUnconfirmed(req *request) {
	err := protocol.Errorf(protocol.CodeTimeout,
		"the server did not confirm the message: look whether it arrived before you send it again")
	o.x.saveError(req.command, err)
	o.x.fail(req.command, err)
	if req.command == nil {
		o.warn(err.Message)
	}
}

func (o *outbox) warn(text string) { o.log.notify(o.turns.id(), protocol.LevelWarning, clipText(text)) }

// expire handles the deadline of a message, which is no longer in flight.
func (o *outbox) expire(req *request) {
	switch {
	case req.arrived:
		o.accept(req)
	case req.key != "" && req.command == nil: // from the queue: the server answers, or gets it again
		req.deadline = o.x.Now.Add(sendTimeout)
		o.requests.add(req)
	case req.deadline.Before(req.sent.at.Add(sendTimeout)): // no error: it is shown, and waits for evidence
		if req.started == nil {
			o.startTurn(req)
		}
		req.deadline = req.sent.at.Add(sendTimeout)
		o.requests.add(req)
	default:
		o.failUnconfirmed(req)
		o.sendNext()
	}
}

// takeKey removes and returns the request with a key, in flight or accepted, or nil.
func (o *outbox) takeKey(key string) *request {
	if req := o.requests.takeKey(key); req != nil {
		return req
	}
	i := slices.IndexFunc(o.accepted, func(req *request) bool { return key != "" && req.key == key })
	if i < 0 {
		return nil
	}
	req := o.accepted[i]
	o.accepted = slices.Delete(o.accepted, i, i+1)
	return req
}

// attach gives a command that is sent again to the message that the last connection began for it,
// and reports whether there is one. The server may have accepted the message before the command
// comes.
func (o *outbox) attach(cmd *protocol.Command) bool {
	for _, req := range slices.Concat(o.requests.inFlight, o.accepted) {
		old := req.command
		if req.verb == protocol.DoSend && old != nil && old.ID == "" && cmd.Key != "" && old.Key == cmd.Key &&
			commandBody(old) == commandBody(cmd) {
			req.command = cmd
			return true
		}
	}
	return false
}

// reconnect ends the requests of the previous connection, and the turn whose rest it lost. A message
// that the server may not have is sent again to agentctl's server, which knows its key; at any other
// server its sender gets an error.
func (o *outbox) reconnect() {
	pending := slices.Clone(o.requests.inFlight)
	for _, req := range o.accepted {
		if req.command != nil {
			pending = append(pending, req)
		}
	}
	*o.requests, o.accepted, o.turns.cancelSeen = requests{}, nil, false
	var again []*request
	for _, req := range pending {
		if req.verb != protocol.DoSend {
			continue
		}
		req.command = withoutID(req.command)
		switch {
		case req.arrived:
			o.accept(req)
		case req.key != "":
			again = append(again, req)
		default:
			o.failUnconfirmed(req)
		}
	}
	if o.turns.current != nil {
		o.log.record(o.turns.lose(o.x.Now, o.log.State)...)
	}
	for _, req := range again {
		o.transmit(req)
	}
	o.sendNext()
}

// withoutID returns a command whose answer is only saved for its key.
func withoutID(cmd *protocol.Command) *protocol.Command {
	if cmd == nil {
		return nil
	}
	kept := *cmd
	kept.ID = ""
	return &kept
}
