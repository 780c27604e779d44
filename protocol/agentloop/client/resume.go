package client

import (
	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// An earlierEvent is an event of a turn that the server repeats without it. It belongs after so
// many bytes of text and so many calls.
type earlierEvent struct {
	text, calls int
	entry       codec.Entry
}

// forgotten is the warning after a reconnect to a server that ends its session with the connection.
const forgotten = "The connection was lost, and an AgentLoop server ends its session then: " +
	"the agent does not know what was said before."

// resumePrevious continues the previous connection's log, whose turns become history. If the server
// repeats the interrupted turn from its start, that is the turn that begins with the given text, it
// returns the turn; else the turn's end was missed. Only agentctl's server repeats turns: any other
// ended the turn, and forgot the session.
func (c *Conn) resumePrevious(begins string) (again *protocol.TurnState) {
	old := c.previous
	if old == nil {
		return nil
	}
	c.previous, c.log = nil, old
	lost := "the connection was lost: what else the turn brought is not known"
	if !c.queues() {
		begins, lost = "", "the connection was lost, and the server ended the turn with it"
	}
	switch t := old.State.Turn; {
	case t == nil || c.state.turn == nil:
	case begins != "" && wire.StripControls(begins) == wire.StripControls(wire.MessageText(&t.Message)):
		again, c.earlierApprovals, c.earlierEvents = t, old.State.Approvals, decidedEvents(old.TurnEvents())
	default:
		c.turn = c.state.turn
		c.finishTurn(protocol.TurnEndedData{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed,
			Message: lost,
		})
	}
	c.state.heldItems = nil
	old.Renew(c.Epoch())
	if !c.queues() && old.State.Turns > 0 {
		c.add(protocol.Notice, protocol.NoticeData{Level: protocol.LevelWarning, Message: forgotten})
	}
	return again
}

// decidedEvents returns the events of the turn's requests that were decided.
func decidedEvents(events []protocol.Event) (list []earlierEvent) {
	over := map[string]bool{}
	for i := range events {
		if e := &events[i]; e.Type == protocol.ApprovalResolved {
			over[codec.DecodeEvent[protocol.ApprovalResolvedData](e).Request] = true
		}
	}
	at := earlierEvent{}
	for i := range events {
		e := &events[i]
		switch e.Type {
		case protocol.TextDelta:
			at.text += len(codec.DecodeEvent[protocol.PartDeltaData](e).Text)
		case protocol.ToolStarted:
			at.calls++
		case protocol.ApprovalRequested, protocol.ApprovalExplained, protocol.ApprovalResolved:
			if over[codec.DecodeEvent[protocol.ApprovalResolvedData](e).Request] {
				at.entry = codec.Entry{Type: e.Type, Turn: e.Turn, By: e.By, Time: e.Time, Data: e.Data}
				list = append(list, at)
			}
		}
	}
	return list
}

// replayEarlier records the earlier events that belong here. It returns how many bytes of text may
// come before the next one; negative: any.
func (c *Conn) replayEarlier() (room int) {
	for len(c.earlierEvents) > 0 {
		next := c.earlierEvents[0]
		if next.calls > c.turn.callCount || next.text > c.turn.textBytes {
			break
		}
		c.earlierEvents = c.earlierEvents[1:]
		c.log.Add(c.Out, c.Now, next.entry)
	}
	if len(c.earlierEvents) > 0 && c.earlierEvents[0].calls <= c.turn.callCount {
		return c.earlierEvents[0].text - c.turn.textBytes
	}
	return -1
}
