package server

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// dispatch executes a request.
func (s *Conn) dispatch(c *rpcCall) {
	switch c.op {
	case wire.OpSubscribe:
		s.subscriptions.subscribe(c)
	case wire.OpSend:
		s.handleSend(c)
	case wire.OpInterrupt:
		forward(s.exchange, c, protocol.DoInterrupt, c.SessionID, protocol.InterruptData{},
			func(r protocol.InterruptResult) any {
				return wire.InterruptResult{Interrupted: r.Interrupted}
			})
	case wire.OpDequeue:
		d := protocol.QueueRemoveData{MessageID: c.MessageID}
		forward(s.exchange, c, protocol.DoQueueRemove, c.SessionID, d, func(r protocol.QueueRemoveResult) any {
			return wire.DequeueResult{Removed: r.Removed}
		})
	case wire.OpState:
		forward(s.exchange, c, protocol.DoSnapshot, c.SessionID, nil, func(r protocol.SnapshotResult) any {
			if r.Snapshot.State == nil {
				return wire.SnapshotOf(&protocol.State{})
			}
			return wire.SnapshotOf(r.Snapshot.State)
		})
	case wire.OpHistory:
		s.handleHistory(c)
	case wire.OpApproval:
		s.handleApproval(c)
	}
}

func (s *Conn) handleSend(c *rpcCall) {
	d := protocol.SendData{
		Text: *c.Content, Parts: wire.NativeParts(*c.Content, c.Parts), ClientMessageID: c.ClientMessageID,
	}
	s.modes.send(c, func(refuseQueued bool) {
		request(s.exchange, c, protocol.DoSend, c.SessionID, c.Key(), d, func(r protocol.SendResult) {
			if refuseQueued && r.Status == protocol.SendQueued { // a turn started since the snapshot
				s.withdraw(c, &r)
				return
			}
			s.succeed(c, s.sendResultOf(&d, r))
		})
	})
}

// withdraw removes a queued message and refuses its call.
func (s *Conn) withdraw(c *rpcCall, r *protocol.SendResult) {
	s.Request(protocol.DoQueueRemove, c.SessionID, "", protocol.QueueRemoveData{MessageID: r.MessageID},
		func(a protocol.Answer) {
			removed, err := codec.DecodeResult[protocol.QueueRemoveResult](a)
			if err == nil && !removed.Removed { // its turn started
				s.succeed(c, wire.SendResult{Status: protocol.SendStarted, MessageID: r.MessageID})
				return
			}
			s.fail(c, errPlanQueued)
		})
}

// sendResultOf encodes the result of a send.
func (s *Conn) sendResultOf(d *protocol.SendData, r protocol.SendResult) wire.SendResult {
	if r.Status == protocol.SendStarted {
		return wire.SendResult{Status: protocol.SendStarted, MessageID: r.MessageID}
	}
	m := protocol.Message{
		MessageID: r.MessageID, Text: d.Text, Parts: d.Parts, ClientMessageID: d.ClientMessageID, QueuedAt: &s.Now,
	}
	for _, sub := range s.subscriptions.bySession { // a subscribed session has the queue time
		if sub.State == nil {
			continue
		}
		if i := sub.State.QueueIndex(r.MessageID); i >= 0 {
			m = sub.State.Queue[i]
		}
	}
	return wire.SendResult{Status: protocol.SendQueued, QueuedMessage: wire.NewQueuedMessage(&m)}
}

// handleApproval decides an approval. The real client sends the tool call only: search the
// subscribed sessions for it. If the request names another session, take a snapshot of that.
func (s *Conn) handleApproval(c *rpcCall) {
	subscribed := false // to the session that the request names
	for _, sub := range s.subscriptions.ordered() {
		if sub.State == nil || c.SessionID != "" && c.SessionID != sub.Session {
			continue
		}
		subscribed = subscribed || c.SessionID == sub.Session
		if s.approveIn(c, sub.Session, sub.State.Approvals) {
			return
		}
	}
	if c.SessionID == "" || subscribed {
		s.failApproval(c)
		return
	}
	s.Request(protocol.DoSnapshot, c.SessionID, "", nil, func(a protocol.Answer) {
		r, _ := codec.DecodeResult[protocol.SnapshotResult](a)
		if r.Snapshot.State == nil || !s.approveIn(c, r.Snapshot.State.Session, r.Snapshot.State.Approvals) {
			s.failApproval(c)
		}
	})
}

// approveIn decides the pending approval of a tool call. It returns false if the call has none.
func (s *Conn) approveIn(c *rpcCall, session string, pending []protocol.Approval) bool {
	i := slices.IndexFunc(pending, func(a protocol.Approval) bool { return wire.ToolCallOf(&a) == c.Response.ToolCallID })
	if i < 0 {
		return false
	}
	forward(s.exchange, c, protocol.DoApprove, session, wire.DecisionOf(&pending[i], c.Response), func(protocol.ApproveResult) any {
		return wire.ApprovalResult{Acknowledged: true}
	})
	return true
}

func (s *Conn) failApproval(c *rpcCall) {
	s.end(c, wire.FailureExit(c.id, wire.TypedError{ToolCallID: c.Response.ToolCallID, Tag: wire.ApprovalNotFound}))
}

// Bounds of a history request.
const (
	historyTurns    = 100     // per page
	maxHistoryBytes = 8 << 20 // bytes of events
)

// handleHistory answers with the messages of finished turns and the user's message of the current
// one.
func (s *Conn) handleHistory(c *rpcCall) {
	s.readState(c, func(st *protocol.State) { s.collectHistory(c, st, 0, nil) })
}

// collectHistory collects finished turns from the newest back, until the message that the client
// has, the start or the bound. st is the state before.
func (s *Conn) collectHistory(c *rpcCall, st *protocol.State, before uint64, later []json.RawMessage) {
	d := protocol.HistoryData{Before: before, Limit: historyTurns}
	request(s.exchange, c, protocol.DoHistory, c.SessionID, "", d, func(page protocol.HistoryResult) {
		events := slices.Concat(page.Events, later)
		size := 0
		for _, e := range events {
			size += len(e)
		}
		found := containsMessage(page.Events, c.AfterMessageID)
		if older := page.OlderThan(); older > 1 && size < maxHistoryBytes && !found && !c.ended {
			s.collectHistory(c, st, older, events)
			return
		}
		turns := turnsFromEvents(events)
		t := st.Turn
		if t != nil && !slices.ContainsFunc(turns, func(o *protocol.Turn) bool { return o.Turn == t.Turn }) {
			turns = append(turns, &protocol.Turn{Turn: t.Turn, Message: t.Message, Started: t.Started})
		}
		s.succeed(c, wire.HistoryResult{Messages: historyMessages(turns, st.Session, c.AfterMessageID)})
	})
}
