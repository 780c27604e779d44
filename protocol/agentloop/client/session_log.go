package client

import (
	"strconv"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// A sessionLog records the events of the session. On a later connection it continues the previous
// log once the fate of that log's turn is known.
type sessionLog struct {
	*codec.Log
	x        *codec.ClientBase // of the connection in use
	previous *codec.Log        // to be continued; nil: none
	turns    *turns
}

// newSessionLog returns the log of a session, which becomes resume.log unless that exists.
func newSessionLog(session string, x *codec.ClientBase, resume *resumeState) *sessionLog {
	l := &sessionLog{Log: codec.NewLog(session, x.Epoch()), x: x, previous: resume.log, turns: &resume.turns}
	if l.previous == nil {
		resume.log, l.ResetReason = l.Log, protocol.ResetResubscribed
	} else {
		l.previous.Detach()
	}
	return l
}

// maxEnvelope bounds the size of an event without its data, in bytes.
const maxEnvelope = 4 << 10

// record records events, in order.
func (l *sessionLog) record(events ...codec.Entry) {
	for _, e := range events {
		l.resume("")
		if raw, err := protocol.Encode(e.Data); err != nil || len(raw) > protocol.MaxEvent-maxEnvelope {
			e.Data = protocol.RawData{Source: wire.Name, Method: string(e.Type), Bytes: int64(len(raw))}
			e.Type = protocol.Raw
		}
		l.x.Record(l.Log, e)
	}
}

// add records an event of the current turn, if there is one.
func (l *sessionLog) add(typ protocol.Type, data any) { l.record(l.turns.event(typ, data)) }

// recordRaw records a message without a native equivalent.
func (l *sessionLog) recordRaw(method string, data []byte) {
	l.add(protocol.Raw, codec.Raw(wire.Name, codec.Excerpt(method), data))
}

// recordQueue records an event of the queue, which belongs to no turn.
func (l *sessionLog) recordQueue(typ protocol.Type, data any) {
	l.record(codec.Entry{Type: typ, By: l.x.User(), Data: data})
}

// endTurn ends the current turn.
func (l *sessionLog) endTurn(d protocol.TurnEndedData) {
	l.record(l.turns.flush()...)
	l.record(l.turns.end(l.x.Now, l.State, d)...)
}

// cancelApprovals ends the pending request without a decision.
func (l *sessionLog) cancelApprovals() { l.record(l.turns.cancelApprovals(l.State)...) }

// forgotten is the warning after a reconnect to a server that ends its session with the connection.
const forgotten = "The connection was lost, and an AgentLoop server ends its session then: " +
	"the agent does not know what was said before."

// resume continues the previous connection's log, whose turns become history. If the server repeats
// the interrupted turn from its start, that is the turn that begins with the given text, it returns
// the turn; else the turn's end was missed. Only agentctl's server repeats turns: any other ended the
// turn, and forgot the session.
func (l *sessionLog) resume(begins string) (again *protocol.TurnState) {
	old := l.previous
	if old == nil {
		return nil
	}
	l.previous, l.Log = nil, old
	lost := "the connection was lost: what else the turn brought is not known"
	if !l.turns.queues {
		begins, lost = "", "the connection was lost, and the server ended the turn with it"
	}
	switch t := old.State.Turn; {
	case t == nil || l.turns.lost == nil:
	case begins != "" && wire.StripControls(begins) == wire.StripControls(wire.MessageText(&t.Message)):
		again = t
		l.turns.repeated = repeatedTurn{old.State.Approvals, decidedEvents(old.TurnEvents())}
	default:
		l.turns.current = l.turns.lost
		l.endTurn(protocol.TurnEndedData{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: lost,
		})
	}
	l.turns.heldItems = nil
	old.Renew(l.x.Epoch())
	if !l.turns.queues && old.State.Turns > 0 {
		l.add(protocol.Notice, protocol.NoticeData{Level: protocol.LevelWarning, Message: forgotten})
	}
	return again
}

// maxText bounds a text in one event, in bytes: escaped, it still fits.
const maxText = protocol.MaxText

// notShown ends a text that is longer.
const notShown = " bytes more, not shown"

// truncate bounds a text for users.
func truncate(s string) string {
	s = protocol.ValidText(s)
	if len(s) <= maxText {
		return s
	}
	return protocol.SplitText(s, maxText)[0] + "\n… " + strconv.Itoa(len(s)-maxText) + notShown
}
