package client

import (
	"encoding/json"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// A session is the session of a connection: it passes the server's messages to the parts that they
// are about.
type session struct {
	x         *codec.ClientBase
	log       *sessionLog
	turns     *turns
	sends     sends
	approvals approvals
	contexts  contextRequests
}

// A resumeState outlives a connection.
type resumeState struct {
	log   *codec.Log // nil: no previous connection
	turns turns
	keys  codec.Recent[*keyedSend]
}

func newResumeState() *resumeState {
	return &resumeState{turns: turns{ids: map[string]int{}}, keys: codec.Recent[*keyedSend]{Limit: maxKeys}}
}

// newSession returns the session of a connection.
func newSession(x *codec.ClientBase) *session {
	resume := codec.ResumeState(x.Options.Resume, newResumeState)
	turns := &resume.turns
	turns.reconnect(x.Options.PeerIsAgentctl)
	log := newSessionLog(wire.SessionOfURL(x.Options.URL), x, resume)
	return &session{
		x: x, log: log, turns: turns,
		sends:     sends{x: x, log: log, turns: turns, keys: &resume.keys},
		approvals: approvals{x: x, log: log, turns: turns},
		contexts:  contextRequests{x: x},
	}
}

// handleCommand carries out a command of the client.
func (s *session) handleCommand(cmd *protocol.Command) {
	switch cmd.Command {
	case protocol.DoSubscribe:
		s.x.Subscribe(cmd, s.log.Log)
	case protocol.DoUnsubscribe:
		s.x.Unsubscribe(cmd, s.log.Log)
	case protocol.DoSnapshot:
		s.x.AnswerSnapshot(cmd, s.log.Log)
	case protocol.DoHistory:
		s.x.AnswerHistory(cmd, s.log.Log)
	case protocol.DoList:
		s.x.Answer(cmd, protocol.ListResult{Sessions: []protocol.Summary{s.log.Summary()}})
	case protocol.DoWatch:
		s.x.AnswerWatch(cmd, []*codec.Log{s.log.Log}, nil)
	case protocol.DoSend:
		s.sends.send(cmd, s.approvals.decision != nil)
	case protocol.DoApprove:
		s.approvals.decide(cmd)
	case protocol.DoContext, protocol.DoCompact:
		s.contexts.send(cmd)
	}
}

// handleMessage records a message of the server.
func (s *session) handleMessage(f codec.Frame) {
	m, ok := wire.DecodeMessage(f)
	if !ok {
		s.log.recordRaw("", f.Data)
		return
	}
	if m.Type != wire.ErrorType {
		s.approvals.confirm()
	}
	if m.Type != wire.LoadingType {
		s.log.record(s.turns.releaseFailure()...)
	}
	if m.Type != wire.ResponseItemType && m.Type != wire.LoadingType && s.sends.sentAs(m.ID) == nil {
		s.startAnnounced()
	}
	if !s.decodePayload(&m) {
		if m.Type == "" {
			m.Type = "message"
		}
		s.log.recordRaw(m.Type, f.Data)
	}
}

// decodePayload records a message. It returns false if the message has no native equivalent.
func (s *session) decodePayload(m *wire.Message) bool {
	switch m.Type {
	case wire.ResponseItemType:
		return s.handleItem(m.ID, m.Payload)
	case wire.LoadingType:
		d, ok := decode[struct {
			Loading *bool `json:"loading"`
		}](m)
		if !ok || d.Loading == nil {
			return false
		}
		s.handleLoading(*d.Loading)
	case wire.ApprovalRequestType:
		d, ok := decode[wire.ApprovalRequest](m)
		if !ok {
			return false
		}
		s.ensureTurn()
		s.log.record(s.turns.proceed()...)
		s.turns.current.failure.err = nil // the turn continues
		s.approvals.request(d)
	case wire.FinishedType:
		if s.turns.current != nil {
			s.log.record(s.turns.closeParts("")...)
			s.turns.current.failure.err = nil
		}
	case wire.ContextInfoType:
		d, ok := decode[wire.ContextInfo](m)
		if !ok {
			return false
		}
		info := protocol.ContextInfo{
			Tokens: d.TokenCount, MaxTokens: d.MaxTokens, Percent: d.UsagePercent,
			TranscriptLength: d.TranscriptLength, Strategy: truncate(d.Strategy),
		}
		s.log.add(protocol.ContextUpdated, info)
		if cmd := s.contexts.take(protocol.DoContext); cmd != nil {
			s.x.Answer(cmd, protocol.ContextResult{Context: info})
		}
	case wire.ContextCompactedType:
		d, ok := decode[wire.ContextCompacted](m)
		if !ok {
			return false
		}
		cmd := s.contexts.take(protocol.DoCompact)
		did := protocol.ContextCompactedData{
			Before: d.OldTokenCount, After: d.NewTokenCount, Percent: d.ReductionPercent,
			Strategy: truncate(d.Strategy), Automatic: cmd == nil,
		}
		s.log.add(protocol.ContextCompacted, did)
		if cmd != nil {
			s.x.Answer(cmd, protocol.CompactResult{Compacted: did})
		}
	case wire.ErrorType:
		d, ok := decode[wire.ErrorPayload](m)
		if !ok {
			return false
		}
		s.handleError(m.ID, d)
	default:
		return false
	}
	return true
}

// decode decodes the payload of a message. ok is false without one.
func decode[T any](m *wire.Message) (payload *T, ok bool) {
	payload = new(T)
	return payload, m.Payload != nil && json.Unmarshal(m.Payload, payload) == nil
}

// handleLoading records the start or end of a turn. Only loading false is the end: agent_finished
// comes before or after it, any number of times. A server without a queue sends loading true again
// when a message joins the turn.
func (s *session) handleLoading(on bool) {
	t := s.turns
	if !on {
		s.startAnnounced()
		if t.current != nil {
			s.endTurn()
		}
		return
	}
	s.log.record(t.releaseFailure()...)
	if !t.queues && len(s.sends.waiting) > 1 { // the second message joins the first
		s.startAnnounced()
	}
	soon := s.x.Now.Add(echoTimeout)
	switch {
	case t.current != nil && !t.queues:
		t.current.joinsAt = soon
	case t.current == nil && t.startsAt.IsZero():
		t.startsAt = soon
	}
}

// handleError records an error of the server. It answers the pending decision, message or context
// request that it is about, or belongs to the turn. id is the id of its frame.
func (s *session) handleError(id string, d *wire.ErrorPayload) {
	err, details := decodeError(d)
	if sent := s.sends.sentAs(id); sent != nil {
		s.sends.reject(sent, err)
		return
	}
	if s.approvals.refuse(d.Message, err) {
		return
	}
	t := s.turns.current
	switch {
	case strings.Contains(d.Message, "ontext"), t == nil && len(s.contexts.waiting) > 0:
		if cmd := s.contexts.take(""); cmd != nil {
			s.x.Fail(cmd, err)
			return
		}
	case t == nil && !s.turns.queues:
		if sent := s.sends.oldest(); sent != nil {
			s.sends.reject(sent, err)
			return
		}
	}
	s.log.add(protocol.ErrorRaised, protocol.ErrorData{
		Kind: protocol.ErrorKindExecution, Code: err.Code, Message: err.Message, Details: details,
	})
	if t != nil {
		t.failure = failure{err: err}
	}
}

// startAnnounced starts the turn that the server announced, if it did, without an echo.
func (s *session) startAnnounced() {
	if !s.turns.startsAt.IsZero() {
		s.startTurn(s.sends.takeNext(), "")
	}
}

// ensureTurn starts a turn if none is running: its start was missed.
func (s *session) ensureTurn() {
	if s.turns.current == nil {
		s.startTurn(s.sends.takeNext(), "")
	}
}

// startTurn starts a turn with a message of the client (nil: another user's) and the text that the
// server echoed.
func (s *session) startTurn(sent *pendingSend, echo string) {
	s.turns.startsAt = time.Time{}
	m := protocol.Message{Text: truncate(echo)}
	id := ""
	if sent != nil {
		m = sent.message
		if sent.queued {
			s.sends.dequeue(sent, protocol.RemovedStarted)
		}
	} else if again := s.log.resume(m.Text); again != nil {
		m, id = again.Message, again.Turn
	} else {
		m.MessageID = s.turns.newID("m")
	}
	s.log.record(s.turns.start(s.x.Now, id, m, s.log.State.Seq+1, echo != "")...)
	if sent != nil {
		s.sends.accept(sent, s.turns.result())
	}
}

// joinTurn makes a message of the client part of the current turn, whose request it aborted.
func (s *session) joinTurn(sent *pendingSend) {
	s.turns.current.joinsAt = time.Time{}
	s.approvals.failExplanation(protocol.Errorf(protocol.CodeNotFound, "a message aborted the request"))
	s.log.cancelApprovals()
	s.log.record(s.turns.closeParts("")...)
	s.turns.current.failure.err = nil // the turn continues
	joined := s.turns.notice(s.x.Options.Name + ": " + wire.MessageText(&sent.message))
	joined.By = s.x.User()
	s.log.record(joined)
	r := s.turns.result()
	r.MessageID, r.Seq = sent.message.MessageID, s.log.State.Seq
	s.sends.accept(sent, r)
}

// joinQueued records that a message of this client left the queue of agentctl's server and joined the turn.
func (s *session) joinQueued(sent *pendingSend) {
	m := sent.message
	joined := s.turns.event(protocol.MessageSteered, protocol.MessageSteeredData{Message: m})
	joined.By = s.x.User()
	s.log.record(joined, s.turns.event(protocol.MessageResolved, protocol.MessageResolvedData{
		MessageID: m.MessageID, Outcome: protocol.SteerTakenIn,
	}))
	if sent.queued {
		s.sends.dequeue(sent, protocol.RemovedSteered)
	}
	r := s.turns.result()
	r.MessageID, r.Seq = m.MessageID, s.log.State.Seq
	s.sends.accept(sent, r)
}

// joinWithoutEcho makes the oldest message that waits part of the current turn: the server announced
// it, but does not echo it, or not yet.
func (s *session) joinWithoutEcho() {
	t := s.turns.current
	t.joinsAt = time.Time{}
	if sent := s.sends.takeNext(); sent != nil {
		t.text, t.echoed = sent.message.Text, false
		s.joinTurn(sent)
	}
}

// endTurn ends the current turn.
func (s *session) endTurn() {
	s.approvals.confirm()
	s.approvals.failExplanation(protocol.Errorf(protocol.CodeNotFound, "the turn ended"))
	t := s.turns.current
	d := protocol.TurnEndedData{Reason: protocol.ReasonCompleted}
	switch err := t.failure.err; {
	case err != nil:
		d.Reason, d.Code, d.Message, t.failure.held = protocol.ReasonError, err.Code, err.Message, ""
	case t.denied:
		d.Reason = protocol.ReasonDenied
	}
	s.log.endTurn(d)
}

// expire acts on the timeouts that passed.
func (s *session) expire() {
	now := s.x.Now
	if !now.Before(s.turns.startsAt) {
		s.startAnnounced()
	}
	if t := s.turns.current; t != nil {
		if !t.joinsAt.IsZero() && !now.Before(t.joinsAt) {
			s.joinWithoutEcho()
		}
		if !now.Before(t.failure.due) {
			s.log.record(s.turns.releaseFailure()...)
		}
	}
	s.approvals.expire()
	s.contexts.expire()
	s.sends.expire()
}

// wakeBy schedules a Wake for the next timeout.
func (s *session) wakeBy() {
	s.x.Out.WakeBy(s.turns.startsAt)
	if t := s.turns.current; t != nil {
		s.x.Out.WakeBy(t.joinsAt)
		if t.failure.held != "" {
			s.x.Out.WakeBy(t.failure.due)
		}
	}
	s.approvals.wakeBy()
	s.contexts.wakeBy()
	s.sends.wakeBy()
}
