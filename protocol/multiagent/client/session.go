package client

import (
	"fmt"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// A session is a conversation with the server. It outlives connections: the protocol cannot replay
// a conversation.
type session struct {
	name      string
	x         *exchange // of the connection in use
	log       sessionLog
	requests  requests
	turns     turns
	outbox    outbox
	approvals approvals
}

// newSession returns a session without events.
func newSession(id, name, agent string, x *exchange) *session {
	s := &session{name: name, turns: turns{agent: agent}}
	s.log.Log = codec.NewLog(id, x.Epoch())
	s.log.ResetReason = protocol.ResetResubscribed
	s.outbox = outbox{log: &s.log, requests: &s.requests, turns: &s.turns}
	s.approvals = approvals{log: &s.log, requests: &s.requests, turns: &s.turns}
	s.use(x)
	return s
}

// use makes a connection the one in use.
func (s *session) use(x *exchange) {
	s.x, s.log.x, s.outbox.x, s.approvals.x = x, x, x, x
	s.turns.newID, s.turns.peerIsAgentctl = x.Options.ID, x.Options.PeerIsAgentctl
}

// reconnect continues the session on another connection. The client subscribes again.
func (s *session) reconnect(x *exchange) {
	s.use(x)
	s.log.Epoch = x.Epoch()
	s.log.Detach()
	s.outbox.reconnect()
}

// requestUpdates sends the PING that makes agentctl's server send the session's events. Other
// servers only answer PONG. It returns false if updates were requested already.
func (s *session) requestUpdates() bool {
	if s.requests.updates {
		return false
	}
	s.requests.updates = true
	s.x.ping(ping{}, s.log.Session)
	return true
}

// awaitState makes a command wait for the current state, if updates were not requested yet. It
// returns whether the command waits.
func (s *session) awaitState(cmd *protocol.Command) bool {
	if s.requests.full() || !s.requestUpdates() {
		return false
	}
	s.requests.add(&request{command: cmd, verb: protocol.DoSnapshot, deadline: s.x.Now.Add(errorTimeout)})
	return true
}

// handleCommand executes a command on the session.
func (s *session) handleCommand(cmd *protocol.Command) {
	switch cmd.Command {
	case protocol.DoSubscribe:
		s.requestUpdates()
		s.x.Subscribe(cmd, s.log.Log)
	case protocol.DoUnsubscribe:
		s.x.Unsubscribe(cmd, s.log.Log)
	case protocol.DoSnapshot:
		s.x.AnswerSnapshot(cmd, s.log.Log)
	case protocol.DoHistory:
		s.x.AnswerHistory(cmd, s.log.Log)
	case protocol.DoSend:
		s.handleSend(cmd)
	case protocol.DoInterrupt:
		s.handleInterrupt(cmd)
	case protocol.DoApprove:
		s.approvals.decide(cmd)
	default:
		s.handleQueueCommand(cmd)
	}
}

func (s *session) handleSend(cmd *protocol.Command) {
	var d protocol.SendData
	switch {
	case !s.x.DecodeData(cmd, &d):
		return
	case len(d.Parts) > 0:
		s.x.FailUnsupported(cmd, textOnly)
		return
	case d.NotBefore != nil:
		s.x.FailUnsupported(cmd, string(codec.SendAt))
		return
	case d.Delivery == protocol.DeliverSteer:
		s.x.FailUnsupported(cmd, string(codec.SendSteer))
		return
	case d.Front && s.x.Options.OneShot:
		s.x.FailUnsupported(cmd, "sending ahead of the queue: "+NoQueue)
		return
	case d.Text == "":
		s.x.Failf(cmd, protocol.CodeInvalidMessage, "text: missing")
		return
	}
	m := protocol.Message{
		MessageID: s.x.Options.ID("m"), ClientMessageID: d.ClientMessageID, Text: protocol.ValidText(d.Text),
		By: s.x.User(),
	}
	switch {
	case s.outbox.isIdle():
		s.outbox.send(&request{command: cmd, message: m})
	case s.x.Options.OneShot:
		s.x.FailUnsupported(cmd, "sending during a turn: the message would wait in a client that exits")
	case len(s.log.State.Queue) >= maxRequests:
		s.x.Fail(cmd, &protocol.Error{Code: protocol.CodeQueueFull, Message: "the queue is full", Limit: maxRequests})
	default:
		s.enqueue(cmd, m, d.Front)
	}
}

// enqueue appends a message to the queue, or puts it in front.
func (s *session) enqueue(cmd *protocol.Command, m protocol.Message, front bool) {
	at := s.x.Now.UTC()
	m.QueuedAt = &at
	added := protocol.QueueAddedData{Message: m}
	index := len(s.log.State.Queue)
	if front {
		index, added.Index = 0, new(int)
	}
	s.log.record(codec.Entry{Type: protocol.QueueAdded, By: m.By, Data: added})
	s.x.answerOnce(cmd, protocol.SendResult{
		Status: protocol.SendQueued, MessageID: m.MessageID, Index: &index, Seq: s.log.State.Seq,
	})
}

func (s *session) handleInterrupt(cmd *protocol.Command) {
	var d protocol.InterruptData
	if !s.x.DecodeData(cmd, &d) {
		return
	}
	if s.x.Options.OneShot && d.Queue != "" && d.Queue != protocol.QueueKeep {
		s.x.FailUnsupported(cmd, fmt.Sprintf("interrupt and %s the queue: %s", d.Queue, NoQueue))
		return
	}
	s.outbox.startPendingTurn()
	if d.Turn != "" && s.turns.id() != d.Turn {
		s.x.answerOnce(cmd, protocol.InterruptResult{})
		return
	}
	if s.requests.full() {
		s.x.Fail(cmd, codec.TooMany(maxRequests))
		return
	}
	s.turns.cancelSeen = false
	s.x.send(wire.Frame{Type: wire.TypeCancel, Conversation: s.log.Session})
	s.requests.add(&request{
		command: cmd, verb: protocol.DoInterrupt, deadline: s.x.Now.Add(answerTimeout), turn: s.turns.id(), queue: d.Queue,
	})
}

func (s *session) handleQueueCommand(cmd *protocol.Command) {
	events, result, err := queueOf(s.log.State, s.x).apply(cmd)
	if err != nil {
		s.x.Fail(cmd, err)
		return
	}
	s.log.record(events...)
	s.x.answerOnce(cmd, result)
	s.outbox.sendNext()
}

// expire handles the deadline of a request. It returns a command to execute now that the current
// state has arrived, or nil.
func (s *session) expire(req *request) *protocol.Command {
	if !s.requests.remove(req) {
		return nil
	}
	switch req.verb {
	case protocol.DoSnapshot:
		return req.command
	case protocol.DoSend:
		s.outbox.expire(req)
	case protocol.DoApprove:
		s.approvals.expire(req)
	case protocol.DoInterrupt:
		s.expireInterrupt(req)
	}
	return nil
}

// expireTurn ends a turn after a tool that no message followed in time.
func (s *session) expireTurn() {
	if !s.turns.quietAt.IsZero() && !s.x.Now.Before(s.turns.quietAt) {
		s.log.record(s.turns.endQuiet(s.x.Now, s.log.State)...)
		s.outbox.sendNext()
	}
}

// expireInterrupt answers an interrupt that no message answered in time.
func (s *session) expireInterrupt(req *request) {
	if s.turns.current == nil || req.turn != "" && s.turns.id() != req.turn {
		s.x.answerOnce(req.command, protocol.InterruptResult{})
		return
	}
	s.x.fail(req.command, protocol.Errorf(protocol.CodeTimeout, "the server did not confirm the end of the stream"))
}

// wakeBy schedules a Wake for the next deadline.
func (s *session) wakeBy(out *codec.Output) {
	s.requests.wakeBy(out)
	out.WakeBy(s.turns.quietAt)
}

// handleMessage handles a message of the server about the session, except an error.
func (s *session) handleMessage(kind string, m wire.Message, data []byte) {
	s.turns.quietAt = time.Time{}
	body := m.Payload()
	switch kind {
	case wire.TypeChunk:
		s.beginTurn()
		s.log.record(s.turns.appendText(body.Name("messageId"), body.Name("agentName"), body.Text("chunk"))...)
	case wire.TypeComplete:
		s.beginTurn()
		s.log.record(s.turns.complete(s.x.Now, s.log.State, body)...)
		s.outbox.sendNext()
	case wire.TypeApprovalRequired:
		if !s.turns.acceptsApproval(s.log.State, body.Name("requestId")) {
			s.recordRaw(kind, data)
			return
		}
		s.beginTurn()
		s.log.record(s.turns.ask(s.x.Now, body)...)
	case wire.TypeExecuted:
		s.handleToolExecuted(body)
	case wire.TypeThought:
		if body.Name("agentId") == wire.QueueAgent {
			s.log.notify(s.turns.id(), protocol.LevelInfo, clipText(body.Text("reason")))
			return
		}
		s.beginTurn()
		s.log.record(s.turns.think(body)...)
	case wire.TypeAnswer:
		s.handleAnswer(m.Request(), wire.DecodeAnswer(data))
	case wire.TypeSelected:
		name := body.Name("agent_name")
		if name == "" {
			s.recordRaw(kind, data)
			return
		}
		s.turns.agent = name
		s.log.record(codec.Entry{Type: protocol.SessionUpdated, Data: protocol.SessionUpdatedData{Agent: &name}})
	default:
		s.recordRaw(kind, data)
	}
}

// beginTurn starts a turn if none runs: for the message just sent, or for one of another client.
func (s *session) beginTurn() {
	s.turns.cancelSeen = false
	s.outbox.startAnsweredTurn()
	s.log.record(s.turns.ensure(s.x.Now)...)
}

// recordRaw records a message without a native equivalent.
func (s *session) recordRaw(kind string, data []byte) { s.log.recordRaw(s.turns.id(), kind, data) }

// handleToolExecuted handles the end of a tool, which also ends its approval request.
func (s *session) handleToolExecuted(m wire.Message) {
	id := m.Name("requestId")
	success, _ := m.Flag("success")
	if s.turns.isLateDenial(id, success) {
		return
	}
	if id == "" {
		id = s.x.Options.ID("tool")
	}
	s.beginTurn()
	ran := success || !codec.IsNull(fitJSON(m["result"]))
	s.approvals.resolveByTool(id, ran, clipText(m.Text("errorMessage")))
	s.log.record(s.turns.endTool(s.x.Now, s.log.State, id, m)...)
	if s.turns.current == nil { // the denial was its end
		s.outbox.sendNext()
	}
}

// handleAnswer handles an answer of agentctl's server to a message with a key.
func (s *session) handleAnswer(key string, a *wire.Answer) {
	req := s.outbox.takeKey(key)
	switch {
	case a == nil || req == nil:
	case req.verb != protocol.DoApprove:
		s.outbox.handleAnswer(req, a)
	case a.Error != nil:
		s.x.fail(req.command, a.Error)
	default:
		s.approvals.apply(req)
	}
}
