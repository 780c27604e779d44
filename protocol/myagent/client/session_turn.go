package client

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// maxNoticeText bounds a message text that is not content, in bytes.
const maxNoticeText = 16 << 10

// actionTurn is the event of a request that awaits the end of the turn.
const actionTurn = "turn"

// startTurn starts a turn that the server does not announce, and returns its id.
func (s *session) startTurn(m protocol.Message) string {
	turn := s.x.Options.ID("t")
	s.decoder.forgetTurn()
	s.decoder.pieceSeq = s.x.arrived.highest
	s.record(
		codec.Entry{Type: protocol.MessageUser, Turn: turn, By: m.By, Data: protocol.MessageUserData{Message: m}},
		codec.Entry{Type: protocol.TurnStarted, Turn: turn, Data: protocol.TurnStartedData{MessageID: m.MessageID}},
	)
	return turn
}

// endTurn ends the turn and finishes the requests that await it.
func (s *session) endTurn(at time.Time, d protocol.TurnEndedData) {
	s.recordTurnEnd(at, d)
	for req := s.x.find("", s.serverID, actionTurn); req != nil; req = s.x.find("", s.serverID, actionTurn) {
		s.x.finish(req, nil, nil)
	}
	if !s.decoder.replaying {
		s.betweenTurns()
	}
}

// recordTurnEnd ends the current turn, with its approvals and, if it was not confirmed, its plan.
func (s *session) recordTurnEnd(at time.Time, d protocol.TurnEndedData) {
	st := s.log.State
	if st.Turn == nil {
		return
	}
	d.Message = protocol.SplitText(d.Message, maxNoticeText)[0]
	turn := st.Turn.Turn
	for _, a := range slices.Clone(st.Approvals) {
		if a.Turn == turn && !s.x.capabilities[wire.CapTurns] {
			s.record(codec.Entry{
				Type: protocol.ApprovalResolved, Turn: turn, Time: at,
				Data: protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled},
			})
			s.decoder.planDenied = s.decoder.planDenied || a.Kind == protocol.ApprovePlan
		}
	}
	if p := st.Plan; s.decoder.planDenied && p != nil && p.Status != protocol.StatusCancelled {
		s.record(codec.Entry{Type: protocol.PlanCancelled, Turn: turn, Time: at, Data: protocol.PlanErrorData{}})
	}
	s.record(codec.Entry{Type: protocol.TurnEnded, Turn: turn, Time: at, Data: d})
	s.decoder.forgetTurn()
}

// endTurnBy ends the turn as a frame describes. A server that names turns gives a reason.
func (s *session) endTurnBy(f *frame) {
	d := protocol.TurnEndedData{Reason: protocol.ReasonCompleted}
	unexplained := f.namesTurns && !f.meta.Has("reason")
	switch f.event {
	case wire.AgentFinalAnswer:
		if unexplained {
			f.addRaw()
			return
		}
		s.decode(f, (*decoder).finalAnswer)
	case wire.AgentTimeout:
		if unexplained {
			f.recordError(protocol.ErrorKindTimeout)
			return
		}
		d.Reason, d.Message = protocol.ReasonTimeout, f.text()
	case wire.AgentInterrupted:
		if unexplained || f.state.Turn == nil {
			f.addRaw()
			return
		}
		d.Reason, d.Message = protocol.ReasonInterrupted, f.text()
	case wire.AgentError:
		busy := strings.Contains(strings.ToLower(f.text()), "currently running")
		if unexplained || f.state.Turn == nil || !f.namesTurns && busy {
			f.recordError(protocol.ErrorKindExecution)
			return
		}
		d.Reason, d.Code, d.Message = protocol.ReasonError, protocol.CodeAgentFailed, f.text()
	}
	d = f.turnEnd(d)
	if turn := f.state.Turn; turn == nil || turn.Turn != f.turnID() {
		f.addRaw()
		return
	}
	if !s.decoder.replayingList {
		s.decoder.endedSeq = uint64(f.Seq)
	}
	s.endTurn(f.at, d)
}

// betweenTurns requests the session's state and sends the next queued message, unless the server
// does both.
func (s *session) betweenTurns() {
	if s.x.capabilities[wire.CapTurns] {
		return
	}
	if s.connected && !s.x.capabilities[wire.CapReply] && s.x.find("", s.serverID, wire.UserRequestState) == nil {
		s.requestState()
	}
	s.sendNext()
}

// requestState requests the session's state for the next connection, if sessions end with their
// connection.
func (s *session) requestState() {
	f := wire.Frame{Session: s.serverID, Event: wire.UserRequestState}
	s.x.request(f, s, func(raw json.RawMessage, err *protocol.Error) {
		if err == nil && len(raw) <= wire.MaxSigned {
			s.signedState = raw
		}
	})
}

// sendNext sends the first queued message after a turn.
func (s *session) sendNext() {
	m := s.log.State.NextQueued()
	if m == nil {
		return
	}
	first := *m
	s.dequeue(first.MessageID, protocol.RemovedStarted)
	s.startTurn(first)
	s.x.send(wire.Frame{Session: s.serverID, Event: wire.UserMessage, Content: first.Text})
}

// awaitReplay calls then after the missed frames, which a notice ends.
func (s *session) awaitReplay(then func()) {
	s.x.await(wire.ActionReplay, s, func(json.RawMessage, *protocol.Error) {
		s.decoder.replaying = false
		then()
	})
}

// finishReplay continues after a replay. It ends an open turn with d, except after a list of
// events, whose turn continues.
func (s *session) finishReplay(d protocol.TurnEndedData) {
	s.decoder.replaying = false
	switch {
	case s.log.State.Turn == nil:
		s.betweenTurns()
	case !s.decoder.replayingList:
		s.endTurn(s.x.Now, d)
	}
}

// decode records the events of a frame.
func (s *session) decode(f *frame, decode func(*decoder, *frame)) {
	decode(&s.decoder, f)
	s.recordFrame(f)
	if f.ofTask && !f.namesTurns && s.decoder.runsTasks && s.log.State.Turn != nil && planFinished(s.log.State.Plan) {
		// the server does not announce the end of a run of given tasks
		s.decoder.turnDeadline = f.now.Add(time.Second)
	}
}

// expire ends a turn past its deadline.
func (s *session) expire() {
	if at := s.decoder.turnDeadline; !s.connected || at.IsZero() || s.x.Now.Before(at) {
		return
	}
	s.decoder.turnDeadline = time.Time{}
	if s.log.State.Turn != nil {
		s.endTurn(s.x.Now, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	}
}

// close records the end of the session.
func (s *session) close(f *frame) {
	if f.state.Turn != nil {
		s.endTurn(f.at, protocol.TurnEndedData{
			Reason: protocol.ReasonInterrupted, Message: "the session ended",
		})
	}
	f.add(protocol.SessionClosed, protocol.SessionClosedData{Reason: f.meta.Str("reason")})
}
