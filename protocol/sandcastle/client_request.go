package sandcastle

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// dispatch executes a request.
func (s *server) dispatch(c *rpcCall) {
	switch c.op {
	case opSubscribe:
		s.handleSubscribe(c)
	case opSend:
		s.handleSend(c)
	case opInterrupt:
		s.Request(protocol.DoInterrupt, c.SessionID, "", protocol.InterruptData{}, func(a protocol.Answer) {
			s.answer(c, a, func() any { return interruptResult{decodeResult[protocol.InterruptResult](a).Interrupted} })
		})
	case opDequeue:
		d := protocol.QueueRemoveData{MessageID: c.MessageID}
		s.Request(protocol.DoQueueRemove, c.SessionID, "", d, func(a protocol.Answer) {
			s.answer(c, a, func() any { return dequeueResult{decodeResult[protocol.QueueRemoveResult](a).Removed} })
		})
	case opState:
		s.Request(protocol.DoSnapshot, c.SessionID, "", nil, func(a protocol.Answer) {
			s.answer(c, a, func() any {
				if state := decodeResult[protocol.SnapshotResult](a).Snapshot.State; state != nil {
					return snapshotOf(state)
				}
				return snapshotOf(&protocol.State{})
			})
		})
	case opHistory:
		s.handleHistory(c, 0, nil)
	case opApproval:
		s.handleApproval(c)
	}
}

// decodeResult decodes a result of agentctl's server.
func decodeResult[T any](a protocol.Answer) (r T) {
	_ = json.Unmarshal(a.Result, &r)
	return r
}

func (s *server) handleSend(c *rpcCall) {
	d := protocol.SendData{Text: *c.Content, Parts: nativeParts(*c.Content, c.Parts), ClientMessageID: c.ClientMessageID}
	ask := func() {
		s.Request(protocol.DoSend, c.SessionID, "", d, func(a protocol.Answer) {
			s.answer(c, a, func() any { return s.sendResultOf(&d, decodeResult[protocol.SendResult](a)) })
		})
	}
	if sub := s.subscriptions[c.SessionID]; sub != nil && sub.offersMode(c.Mode) {
		s.Request(protocol.DoConfigure, sub.id, "", protocol.ConfigureData{Setting: settingMode, Value: c.Mode},
			func(protocol.Answer) { ask() })
		return
	}
	ask()
}

// sendResultOf encodes the result of a send.
func (s *server) sendResultOf(d *protocol.SendData, r protocol.SendResult) sendResult {
	if r.Status == protocol.SendStarted {
		return sendResult{Status: protocol.SendStarted, MessageID: r.MessageID}
	}
	m := protocol.Message{MessageID: r.MessageID, Text: d.Text, Parts: d.Parts, ClientMessageID: d.ClientMessageID, QueuedAt: &s.Now}
	for _, sub := range s.subscriptions { // a subscribed session has the queue time
		if sub.state == nil {
			continue
		}
		if i := sub.state.Queued(r.MessageID); i >= 0 {
			m = sub.state.Queue[i]
		}
	}
	return sendResult{Status: protocol.SendQueued, QueuedMessage: newQueuedMessage(&m)}
}

// handleApproval decides an approval. The real client sends the tool call only: search the
// subscribed sessions for it. If the request names another session, take a snapshot of that.
func (s *server) handleApproval(c *rpcCall) {
	asked := false // the named session is subscribed
	for _, id := range s.sessionIDs() {
		sub := s.subscriptions[id]
		if sub.state == nil || c.SessionID != "" && c.SessionID != sub.id {
			continue
		}
		asked = asked || c.SessionID == sub.id
		if s.approveIn(c, sub.id, sub.state.Approvals) {
			return
		}
	}
	if c.SessionID == "" || asked {
		s.failApproval(c)
		return
	}
	s.Request(protocol.DoSnapshot, c.SessionID, "", nil, func(a protocol.Answer) {
		r := decodeResult[protocol.SnapshotResult](a)
		if r.Snapshot.State == nil || !s.approveIn(c, r.Snapshot.State.Session, r.Snapshot.State.Approvals) {
			s.failApproval(c)
		}
	})
}

// approveIn decides the pending approval of a tool call. It returns false if there is none.
func (s *server) approveIn(c *rpcCall, session string, pending []protocol.Approval) bool {
	i := slices.IndexFunc(pending, func(a protocol.Approval) bool { return toolCallOf(&a) == c.ToolCallID })
	if i < 0 {
		return false
	}
	s.Request(protocol.DoApprove, session, "", decisionOf(&pending[i], &c.payload), func(a protocol.Answer) {
		s.answer(c, a, func() any { return approvalResult{true} })
	})
	return true
}

func (s *server) failApproval(c *rpcCall) {
	s.endCall(c, failureExit(c.id, typedError{ToolCallID: c.ToolCallID, Tag: approvalNotFound}))
}

// Bounds of a history request.
const (
	historyTurns    = 100     // per page
	maxHistoryBytes = 8 << 20 // bytes of events
)

// handleHistory collects finished turns from the newest back, until the message that the client
// has, the start or the bound.
func (s *server) handleHistory(c *rpcCall, before uint64, later []json.RawMessage) {
	d := protocol.HistoryData{Before: before, Limit: historyTurns}
	s.Request(protocol.DoHistory, c.SessionID, "", d, func(a protocol.Answer) {
		page := decodeResult[protocol.HistoryResult](a)
		events := slices.Concat(page.Events, later)
		size := 0
		for _, e := range events {
			size += len(e)
		}
		if a.Error == nil && page.More && page.First > 1 && size < maxHistoryBytes && !containsMessage(page.Events, c.After) && !c.ended {
			s.handleHistory(c, page.First, events)
			return
		}
		s.answer(c, a, func() any { return historyMessages(turnsFromEvents(events), c.After) })
	})
}
