package agentloop

import (
	"agentctl/protocol"
	"agentctl/protocol/bridge"
)

// goOn makes the log of the connection before this one's own: what was said there is history. A turn that was under way is returned
// when the server tells it again from its start, as the turn that begins now with that text; else its end was not seen.
func (c *Client) goOn(begins string) (again *protocol.TurnState) {
	old := c.before
	if old == nil {
		return nil
	}
	c.before, c.log = nil, old
	switch t := old.State.Turn; {
	case t == nil:
	case begins != "" && clean(begins) == clean(spoken(&t.Message)):
		again, c.asked = t, old.State.Approvals
	default:
		old.Add(c.out, c.now, bridge.Entry{Type: protocol.TurnEnded, Turn: t.Turn, Data: protocol.TurnEndedData{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, DurationMS: max(0, c.now.Sub(t.Started).Milliseconds()),
			Message: "the connection was lost: what else the turn brought is not known",
		}})
	}
	old.Renew(c.desk.Epoch)
	return again
}
