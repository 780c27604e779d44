package client

import (
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// maxParts bounds the parts and calls of a turn.
const maxParts = 1024

// A turn is a turn as the server's messages show it.
type turn struct {
	id, message string
	text        string // of its message
	first       uint64
	echoed      bool // the server repeated the message
	started     time.Time
	parts       map[string]bool // text parts by id; true: open
	calls       []string        // open
	shellCalls  []string        // open calls of the local shell
	failure     failure         // the last message that reported one
	joinsAt     time.Time       // when an announced message joins the turn without an echo; zero: none
	denied      bool            // ended by a denial: the review no-exit, or as the server says
	denial      string          // the reason of the last denial, which the server repeats as a message
	textBytes   int             // bytes of text
	callCount   int             // calls
}

// turns is the current turn of the session, the next one, and the approvals of the past. It outlives
// connections. Its methods return the events to record, in order. st is the session's state before
// these events.
type turns struct {
	ids       map[string]int // newest number by prefix
	decided   codec.Decisions
	heldItems []wire.Item // shell calls received while a request is pending

	current *turn // nil: none
	lost    *turn // current on the previous connection, which lost its rest; nil: none

	// Of the connection.

	queues   bool         // the server queues a message that comes during a turn
	startsAt time.Time    // when the announced turn starts without an echo; zero: none announced
	repeated repeatedTurn // rest of the lost turn, which is the current one
}

// reconnect continues on another connection.
func (t *turns) reconnect(queues bool) {
	if t.current != nil {
		t.lost = t.current
	}
	t.current, t.startsAt, t.repeated, t.queues = nil, time.Time{}, repeatedTurn{}, queues
}

// newID returns an id that is unique in the log.
func (t *turns) newID(prefix string) string {
	t.ids[prefix]++
	return prefix + strconv.Itoa(t.ids[prefix])
}

// event returns an event of the current turn, if there is one.
func (t *turns) event(typ protocol.Type, data any) codec.Entry {
	e := codec.Entry{Type: typ, Data: data}
	if t.current != nil {
		e.Turn = t.current.id
	}
	return e
}

// start begins the turn of a message. first is the seq of its first event; an empty id is replaced.
func (t *turns) start(now time.Time, id string, m protocol.Message, first uint64, echoed bool) []codec.Entry {
	if id == "" {
		id = t.newID("t")
	}
	t.current, t.lost = &turn{
		id: id, message: m.MessageID, text: m.Text, first: first, echoed: echoed, started: now, parts: map[string]bool{},
	}, nil
	asked := t.event(protocol.MessageUser, protocol.MessageUserData{Message: m})
	asked.By = m.By
	return []codec.Entry{
		asked, t.event(protocol.TurnStarted, protocol.TurnStartedData{MessageID: m.MessageID, Agent: wire.Name}),
	}
}

// result returns the answer to the message of the current turn.
func (t *turns) result() *protocol.SendResult {
	return &protocol.SendResult{
		Status: protocol.SendStarted, MessageID: t.current.message, Turn: t.current.id, Seq: t.current.first,
	}
}

// flush records the events held back for later in the turn, which ends.
func (t *turns) flush() []codec.Entry {
	events := t.releaseFailure()
	t.current.textBytes, t.current.callCount = math.MaxInt, math.MaxInt
	earlier, _ := t.repeated.take(t.current)
	return append(events, earlier...)
}

// end ends the turn, which was flushed, with its open parts, calls and requests.
func (t *turns) end(now time.Time, st *protocol.State, d protocol.TurnEndedData) []codec.Entry {
	events := append(t.cancelApprovals(st), t.closeParts("")...)
	for _, id := range slices.Clone(t.current.calls) {
		events = append(events, t.closeCall(protocol.ToolEndedData{Tool: id, Status: protocol.ToolUnknown}))
	}
	d.DurationMS = max(0, now.Sub(t.current.started).Milliseconds())
	events = append(events, t.event(protocol.TurnEnded, d))
	t.current, t.lost = nil, nil
	return events
}

// proceed ends the open parts, and records the events that belong before the next call or request.
func (t *turns) proceed() []codec.Entry {
	events := t.closeParts("")
	earlier, _ := t.repeated.take(t.current)
	return append(events, earlier...)
}

// appendText appends text to the part of an id. Text without an id is a separate part.
func (t *turns) appendText(id, text string) []codec.Entry {
	if id == "" {
		id = t.newID("p")
	}
	id = truncate(id)
	events := t.closeParts(id)
	if _, known := t.current.parts[id]; !known {
		t.current.parts[id] = true
		events = append(events, t.event(protocol.TextStart, protocol.PartStartData{Part: id}))
	}
	for text = protocol.ValidText(text); text != ""; {
		now := text
		earlier, room := t.repeated.take(t.current)
		events = append(events, earlier...)
		if room > 0 && room < len(text) {
			for room < len(text) && !utf8.RuneStart(text[room]) {
				room++
			}
			now = text[:room]
		}
		text = text[len(now):]
		t.current.textBytes += len(now)
		for _, piece := range protocol.SplitText(now, protocol.MaxText) {
			events = append(events, t.event(protocol.TextDelta, protocol.PartDeltaData{Part: id, Text: piece}))
		}
	}
	return events
}

// reason records reasoning, which arrives whole.
func (t *turns) reason(it *wire.Item) []codec.Entry {
	id := truncate(it.ID)
	if id == "" {
		id = t.newID("r")
	}
	text, _ := it.Content.Text()
	if text == "" {
		text, _ = it.Summary.Text()
	}
	events := append(t.closeParts(""), t.event(protocol.ReasoningStart, protocol.PartStartData{Part: id}))
	for _, piece := range protocol.SplitText(protocol.ValidText(text), protocol.MaxText) {
		if piece != "" {
			events = append(events, t.event(protocol.ReasoningDelta, protocol.PartDeltaData{Part: id, Text: piece}))
		}
	}
	end := protocol.PartEndData{Part: id, DurationMS: roundNumber(it.DurationMS, 1)}
	return append(events, t.event(protocol.ReasoningEnd, end))
}

// closeParts ends the open parts except one.
func (t *turns) closeParts(but string) (events []codec.Entry) {
	parts := t.current.parts
	var open []string
	for id, isOpen := range parts {
		if isOpen && id != but {
			open = append(open, id)
		}
	}
	slices.Sort(open)
	for _, id := range open {
		parts[id] = false
		events = append(events, t.event(protocol.TextEnd, protocol.PartEndData{Part: id}))
	}
	if len(parts) > maxParts && but == "" {
		clear(parts)
	}
	return events
}

// resolve records the end of an approval request. by is nil if it is not known.
func (t *turns) resolve(by *protocol.Actor, d protocol.ApprovalResolvedData) codec.Entry {
	t.decided.Put(by, d)
	e := t.event(protocol.ApprovalResolved, d)
	e.By = by
	return e
}

// cancelApprovals ends the pending request without a decision.
func (t *turns) cancelApprovals(st *protocol.State) (events []codec.Entry) {
	for i := range st.Approvals {
		cancelled := protocol.ApprovalResolvedData{Request: st.Approvals[i].Request, Outcome: protocol.Cancelled}
		events = append(events, t.resolve(nil, cancelled))
	}
	return append(events, t.releaseItems()...)
}
