package agentloop

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// An earlier event of a turn that is told again: the server tells the turn without it. It belongs after so much text and so many calls.
type earlier struct {
	text, calls int
	entry       codec.Entry
}

// goOn makes the log of the connection before this one's own: what was said there is history. A turn that was under way is returned
// when the server tells it again from its start, as the turn that begins now with that text; else its end was not seen.
func (c *Client) goOn(begins string) (again *protocol.TurnState) {
	old := c.before
	if old == nil {
		return nil
	}
	c.before, c.log = nil, old
	switch t := old.State.Turn; {
	case t == nil || c.memory.turn == nil:
	case begins != "" && clean(begins) == clean(spoken(&t.Message)):
		again, c.asked, c.earlier = t, old.State.Approvals, decisions(old.TurnEvents())
	default:
		c.turn = c.memory.turn
		c.finish(protocol.TurnEndedData{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed,
			Message: "the connection was lost: what else the turn brought is not known",
		})
	}
	c.memory.held = nil
	old.Renew(c.desk.Epoch)
	return again
}

// decisions are the events of the requests of a turn that were decided.
func decisions(events []protocol.Event) (list []earlier) {
	over := map[string]bool{}
	for i := range events {
		if e := &events[i]; e.Type == protocol.ApprovalResolved {
			over[data[protocol.ApprovalResolvedData](e).Request] = true
		}
	}
	at := earlier{}
	for i := range events {
		e := &events[i]
		switch e.Type {
		case protocol.TextDelta:
			at.text += len(data[protocol.PartDeltaData](e).Text)
		case protocol.ToolStarted:
			at.calls++
		case protocol.ApprovalRequested, protocol.ApprovalExplained, protocol.ApprovalResolved:
			if over[data[protocol.ApprovalResolvedData](e).Request] {
				at.entry = codec.Entry{Type: e.Type, Turn: e.Turn, By: e.By, Time: e.Time, Data: e.Data}
				list = append(list, at)
			}
		}
	}
	return list
}

// recall tells again what belongs before what comes now. How much text there may be before the next of it is returned; negative: any.
func (c *Client) recall() (room int) {
	for len(c.earlier) > 0 {
		next := c.earlier[0]
		if next.calls > c.turn.called || next.text > c.turn.said {
			break
		}
		c.earlier = c.earlier[1:]
		c.log.Add(c.out, c.now, next.entry)
	}
	if len(c.earlier) > 0 && c.earlier[0].calls <= c.turn.called {
		return c.earlier[0].text - c.turn.said
	}
	return -1
}
