package client

import (
	"encoding/json"

	"agentctl/protocol/agentloop/wire"
)

// handleItem records an item, which came in the frame with an id. It returns false if the item has
// no native equivalent.
func (s *session) handleItem(id string, payload json.RawMessage) bool {
	var it wire.Item
	if payload == nil || json.Unmarshal(payload, &it) != nil {
		s.startAnnounced()
		return false
	}
	if sent := s.sends.sentAs(id); sent != nil {
		s.sends.enqueue(sent)
		return s.recordItem(&it)
	}
	if !s.turns.startsAt.IsZero() {
		if it.Type == wire.MessageItem && it.Role == wire.User {
			text, _ := it.Content.Text()
			s.startTurn(s.sends.takeByText(text), text)
			return true
		}
		s.startAnnounced()
	}
	if text, failed := it.FailureText(); failed {
		s.log.record(s.turns.modelFailed(s.x.Now, s.log.State, text)...)
		return true
	}
	if t := s.turns.current; t != nil && (it.Role == wire.Assistant || it.Type != wire.MessageItem) {
		t.failure.err = nil // the turn continues
	}
	if outcome, ok := s.turns.decidedByOutput(s.log.State, &it); ok {
		s.approvals.decidedElsewhere(nil, outcome)
	}
	return s.turns.hold(s.log.State, &it) || s.recordItem(&it)
}

// recordItem records an item in the turn. It returns false if the item has no native equivalent.
func (s *session) recordItem(it *wire.Item) bool {
	switch it.Type {
	case wire.MessageItem:
		return s.recordMessage(it)
	case wire.ReasoningItem:
		s.ensureTurn()
		s.log.record(s.turns.reason(it)...)
	case wire.CallItem, wire.ShellItem, wire.OutputItem, wire.ShellOutputItem:
		s.ensureTurn()
		s.log.record(s.turns.call(it)...)
	default:
		return false
	}
	return true
}

// recordMessage records a message: the agent's text, an echo of the user's message, or a warning.
func (s *session) recordMessage(it *wire.Item) bool {
	text, plain := it.Content.Text()
	if !plain {
		return false
	}
	switch it.Role {
	case wire.Assistant:
		if it.Status == "" && s.approvals.explain(text) { // an answer of the model has a status
			return true
		}
		s.ensureTurn()
		s.log.record(s.turns.appendText(it.ID, text)...)
	case wire.User:
		s.recordUserMessage(text)
	case wire.System:
		if by, outcome, ok := wire.DecodeDecision(text); ok && len(s.log.State.Approvals) > 0 {
			s.approvals.decidedElsewhere(by, outcome)
			return true
		}
		if t := s.turns.current; t != nil && text == wire.EndedByDenial {
			t.denied = true
			return true
		}
		s.log.record(s.turns.system(s.x.Now, it, text)...)
	default:
		return false
	}
	return true
}

// recordUserMessage records a message of role user in a turn: the echo of the turn's message, the
// reason of a denial, a message of the client that joins the turn, or words of the server or of
// another client to the agent.
func (s *session) recordUserMessage(text string) {
	same := func(other string) bool { return wire.StripControls(other) == wire.StripControls(text) }
	t, queues := s.turns.current, s.turns.queues
	switch {
	case t != nil && !t.echoed && same(t.text):
		t.echoed = true
		return
	case t != nil && !t.echoed && queues: // the echo came late: the turn began without its message
		t.echoed = true
		if sent := s.sends.takeByText(text); sent != nil {
			s.sends.accept(sent, s.turns.result())
			return
		}
	case t != nil && t.denial != "" && same(t.denial):
		t.denial = ""
		return
	case t != nil && queues:
		if sent := s.sends.takeByText(text); sent != nil { // queued, and another client delivered it now
			s.joinQueued(sent)
			return
		}
	case t == nil:
	default:
		if sent := s.sends.takeByText(text); sent != nil {
			s.joinTurn(sent)
			return
		}
		text = "Told the agent: " + text
	}
	s.log.record(s.turns.notice(text))
}
