package sandcastle

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// begin carries out a request.
func (s *Server) begin(c *call) {
	switch c.op {
	case opSubscribe:
		s.subscribe(c)
	case opSend:
		s.send(c)
	case opInterrupt:
		s.native.Do(s.out, protocol.DoInterrupt, c.SessionID, "", protocol.InterruptData{}, func(a protocol.Answer) {
			s.answer(c, a, func() any { return interruptResult{result[protocol.InterruptResult](a).Interrupted} })
		})
	case opDequeue:
		d := protocol.QueueRemoveData{MessageID: c.MessageID}
		s.native.Do(s.out, protocol.DoQueueRemove, c.SessionID, "", d, func(a protocol.Answer) {
			s.answer(c, a, func() any { return dequeueResult{result[protocol.QueueRemoveResult](a).Removed} })
		})
	case opState:
		s.native.Do(s.out, protocol.DoSnapshot, c.SessionID, "", nil, func(a protocol.Answer) {
			s.answer(c, a, func() any {
				if state := result[protocol.SnapshotResult](a).Snapshot.State; state != nil {
					return snapshotOf(state)
				}
				return snapshotOf(&protocol.State{})
			})
		})
	case opHistory:
		s.history(c, 0, nil)
	case opApproval:
		s.decide(c)
	}
}

// result reads an answer of our own server.
func result[T any](a protocol.Answer) (r T) {
	_ = json.Unmarshal(a.Result, &r)
	return r
}

func (s *Server) send(c *call) {
	d := protocol.SendData{Text: *c.Content, Parts: nativeParts(*c.Content, c.Parts), ClientMessageID: c.ClientMessageID}
	ask := func() {
		s.native.Do(s.out, protocol.DoSend, c.SessionID, "", d, func(a protocol.Answer) {
			s.answer(c, a, func() any { return s.accepted(&d, result[protocol.SendResult](a)) })
		})
	}
	if v := s.views[c.SessionID]; v != nil && v.offersMode(c.Mode) {
		s.native.Do(s.out, protocol.DoConfigure, v.id, "", protocol.ConfigureData{Setting: settingMode, Value: c.Mode},
			func(protocol.Answer) { ask() })
		return
	}
	ask()
}

// accepted says what became of a message that was sent.
func (s *Server) accepted(d *protocol.SendData, r protocol.SendResult) sendResult {
	if r.Status == protocol.SendStarted {
		return sendResult{Status: protocol.SendStarted, MessageID: r.MessageID}
	}
	m := protocol.Message{MessageID: r.MessageID, Text: d.Text, Parts: d.Parts, ClientMessageID: d.ClientMessageID, QueuedAt: &s.now}
	for _, v := range s.views { // where it is known when it was queued
		if v.state == nil {
			continue
		}
		if i := v.state.QueueIndex(r.MessageID); i >= 0 {
			m = v.state.Queue[i]
		}
	}
	return sendResult{Status: protocol.SendQueued, QueuedMessage: queuedOf(&m)}
}

// decide answers an approval. The real client names the tool call alone, which we look for in the sessions that it follows; of
// another session that it names we ask.
func (s *Server) decide(c *call) {
	asked := false // of the session it names
	for _, id := range s.order() {
		v := s.views[id]
		if v.state == nil || c.SessionID != "" && c.SessionID != v.id {
			continue
		}
		asked = asked || c.SessionID == v.id
		if s.decideIn(c, v.id, v.state.Approvals) {
			return
		}
	}
	if c.SessionID == "" || asked {
		s.undecided(c)
		return
	}
	s.native.Do(s.out, protocol.DoSnapshot, c.SessionID, "", nil, func(a protocol.Answer) {
		r := result[protocol.SnapshotResult](a)
		if r.Snapshot.State == nil || !s.decideIn(c, r.Snapshot.State.Session, r.Snapshot.State.Approvals) {
			s.undecided(c)
		}
	})
}

// decideIn answers the approval of a session that the call means; false when there is none.
func (s *Server) decideIn(c *call, session string, pending []protocol.Approval) bool {
	i := slices.IndexFunc(pending, func(a protocol.Approval) bool { return toolCallOf(&a) == c.ToolCallID })
	if i < 0 {
		return false
	}
	s.native.Do(s.out, protocol.DoApprove, session, "", decisionOf(&pending[i], &c.payload), func(a protocol.Answer) {
		s.answer(c, a, func() any { return approvalResult{true} })
	})
	return true
}

func (s *Server) undecided(c *call) {
	s.end(c, failed(c.id, typedError{ToolCallID: c.ToolCallID, Tag: approvalNotFound}))
}

// Bounds of what a client gets of a session's history.
const (
	historyTurns = 100     // asked for at once
	historyMost  = 8 << 20 // bytes of events
)

// history collects finished turns, the newest first, until it reached the message that the client has, the beginning or the
// bound.
func (s *Server) history(c *call, before uint64, later []json.RawMessage) {
	d := protocol.HistoryData{Before: before, Limit: historyTurns}
	s.native.Do(s.out, protocol.DoHistory, c.SessionID, "", d, func(a protocol.Answer) {
		page := result[protocol.HistoryResult](a)
		events := slices.Concat(page.Events, later)
		size := 0
		for _, e := range events {
			size += len(e)
		}
		if a.Error == nil && page.More && page.First > 1 && size < historyMost && !reaches(page.Events, c.After) && !c.ended {
			s.history(c, page.First, events)
			return
		}
		s.answer(c, a, func() any { return messagesOf(turnsOf(events), c.After) })
	})
}
