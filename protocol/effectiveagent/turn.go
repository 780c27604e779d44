package effectiveagent

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// startTurn starts a turn with a message, or with the entry's data if set. It ends the turn under
// way.
func (c *client) startTurn(s *session, turn string, m protocol.Message, en codec.Entry) {
	c.endTurn(s)
	en.Type, en.Turn = protocol.MessageUser, turn
	if en.Data == nil {
		en.Data = protocol.MessageUserData{Message: m}
	}
	c.add(s, en)
	if s.log.Turn() == "" { // the message was too large to be recorded
		m.Text, m.Parts = protocol.SplitText(m.Text, protocol.MaxText)[0], nil
		en.Data = protocol.MessageUserData{Message: m}
		c.add(s, en)
	}
}

// startLocalTurn starts a turn that the server does not report.
func (c *client) startLocalTurn(s *session, m protocol.Message, en codec.Entry) (turn string) {
	turn = c.Options.ID("t")
	c.startTurn(s, turn, m, en)
	s.localTurn = s.log.Turn() == turn
	c.add(
		s,
		codec.Entry{Type: protocol.TurnStarted, Turn: turn, Data: protocol.TurnStartedData{MessageID: m.MessageID}},
	)
	return turn
}

// endTurn ends the turn under way, if any.
func (c *client) endTurn(s *session) {
	switch {
	case s.log.Turn() == "":
	case !s.localTurn:
		c.endLostTurn(s)
	case s.lastError != "":
		c.endTurnWith(s, protocol.TurnEndedData{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: s.lastError,
		})
	default:
		c.endTurnWith(s, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	}
}

// endLostTurn ends a turn whose end was missed.
func (c *client) endLostTurn(s *session) {
	c.endTurnWith(
		s,
		protocol.TurnEndedData{
			Reason:  protocol.ReasonError,
			Message: "the connection was lost; what else the turn brought is not known",
		},
	)
}

func (c *client) endTurnWith(s *session, d protocol.TurnEndedData) {
	t := s.log.State.Turn
	d.DurationMS = max(0, c.Now.Sub(t.Started).Milliseconds())
	c.add(s, codec.Entry{Type: protocol.TurnEnded, Turn: t.Turn, Data: d})
	s.clearTurn()
	c.matchEvent(s, t.Turn, &d)
}

// clearTurn resets the state of the local turn.
func (s *session) clearTurn() {
	s.localTurn, s.lastError, s.idleAt = false, "", time.Time{}
}

// ensureTurn returns the local id of the server's turn and makes it the turn under way: its start
// may have been missed.
func (c *client) ensureTurn(s *session, remote string) (turn string) {
	turn = s.localTurnID(remote)
	if s.log.Turn() == turn {
		return turn
	}
	if last := s.log.State.Last; last != nil && last.Turn == turn { // ended as lost, and continues
		turn = c.Options.ID("t")
		s.alias.remote, s.alias.local = remote, turn
	}
	m := protocol.Message{MessageID: c.Options.ID("m")}
	c.startTurn(s, turn, m, codec.Entry{})
	c.add(
		s,
		codec.Entry{
			Type: protocol.TurnStarted, Turn: turn,
			Data: protocol.TurnStartedData{MessageID: m.MessageID, Resumed: true},
		},
	)
	return turn
}

// localTurnID returns the local id of the server's turn.
func (s *session) localTurnID(remote string) string {
	if remote != "" && remote == s.alias.remote {
		return s.alias.local
	}
	return remote
}

// remoteTurnID returns the server's id of a turn.
func (s *session) remoteTurnID(local string) string {
	if local != "" && local == s.alias.local {
		return s.alias.remote
	}
	return local
}
