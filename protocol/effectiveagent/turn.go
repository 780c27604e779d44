package effectiveagent

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// startTurn starts a turn with a message, which is the entry's data unless it has some. A turn that is under way is over.
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

// startLocalTurn begins a turn that the server does not tell of.
func (c *client) startLocalTurn(s *session, m protocol.Message, en codec.Entry) (turn string) {
	turn = c.Options.ID("t")
	c.startTurn(s, turn, m, en)
	s.localTurn = s.log.Turn() == turn
	c.add(s, codec.Entry{Type: protocol.TurnStarted, Turn: turn, Data: protocol.TurnStartedData{MessageID: m.MessageID}})
	return turn
}

// endTurn ends the turn under way, if there is one: nothing more comes in it.
func (c *client) endTurn(s *session) {
	switch {
	case s.log.Turn() == "":
	case !s.localTurn:
		c.endLostTurn(s)
	case s.lastFailed:
		c.endTurnWith(s, protocol.TurnEndedData{Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: "the agent's last word was an error"})
	default:
		c.endTurnWith(s, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	}
}

// endLostTurn ends a turn whose end was not seen.
func (c *client) endLostTurn(s *session) {
	c.endTurnWith(s, protocol.TurnEndedData{Reason: protocol.ReasonError, Message: "the connection was lost; what else the turn brought is not known"})
}

func (c *client) endTurnWith(s *session, d protocol.TurnEndedData) {
	t := s.log.State.Turn
	d.DurationMS = max(0, c.Now.Sub(t.Started).Milliseconds())
	c.add(s, codec.Entry{Type: protocol.TurnEnded, Turn: t.Turn, Data: d})
	s.clearTurn()
	c.matchEvent(s, t.Turn, &d)
}

// clearTurn forgets what was known of the turn under way.
func (s *session) clearTurn() {
	s.localTurn, s.lastFailed, s.idleAt = false, false, time.Time{}
}

// ensureTurn returns our id of a turn that the server names, and makes it the one under way: its beginning may not have been seen.
func (c *client) ensureTurn(s *session, theirs string) (turn string) {
	turn = s.localTurnID(theirs)
	if s.log.Turn() == turn {
		return turn
	}
	if last := s.log.State.Last; last != nil && last.Turn == turn { // that was lost, and goes on
		turn = c.Options.ID("t")
		s.alias.theirs, s.alias.ours = theirs, turn
	}
	m := protocol.Message{MessageID: c.Options.ID("m")}
	c.startTurn(s, turn, m, codec.Entry{})
	c.add(s, codec.Entry{Type: protocol.TurnStarted, Turn: turn, Data: protocol.TurnStartedData{MessageID: m.MessageID, Resumed: true}})
	return turn
}

// localTurnID is our id of a turn that the server names.
func (s *session) localTurnID(theirs string) string {
	if theirs != "" && theirs == s.alias.theirs {
		return s.alias.ours
	}
	return theirs
}

// remoteTurnID is the server's id of a turn.
func (s *session) remoteTurnID(ours string) string {
	if ours != "" && ours == s.alias.ours {
		return s.alias.theirs
	}
	return ours
}
