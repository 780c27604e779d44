package session

import (
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/approval"
)

// An agentMessage carries output of an agent to the session's goroutine. turn is nil outside a
// turn.
type agentMessage struct {
	turn      *turn
	host      *host // of the agent, outside a turn
	entries   []entry
	pooled    bool // of deltaMessages
	request   *approval.Waiter
	withdrawn *approval.Waiter // the agent stopped waiting
	state     []byte           // to be saved; nil: none
	title     *string          // of the session; nil: none
	result    *turnResult
}

// A turnResult is the result of Agent.Run.
type turnResult struct {
	agent.End
	err error
}

// deltaMessages holds messages for the deltas of agents, most of what they emit.
var deltaMessages = sync.Pool{New: func() any { return &agentMessage{entries: make([]entry, 1), pooled: true} }}

// newDeltaMessage returns a message with the delta of an agent's event. It returns nil for other
// events and for a delta that takes several entries.
func newDeltaMessage(e *agent.Event) *agentMessage {
	d, ok := deltaOf(e)
	if !ok || len(d.Text) > protocol.MaxText/3 || e.Save != nil { // an invalid byte becomes three
		return nil
	}
	m := deltaMessages.Get().(*agentMessage)
	m.entries[0] = deltaEntry(eventEntry(e), validDelta(d), m.entries[0].data[:0])
	return m
}

// size returns the bytes of data in the message.
func (m *agentMessage) size() int {
	n := len(m.state)
	for i := range m.entries {
		en := &m.entries[i]
		n += len(en.data) + len(en.delta.Text)
		for j := range en.blobs {
			n += len(en.blobs[j].Data)
		}
	}
	return n
}

// release returns a message of deltaMessages, which the session has handled.
func (m *agentMessage) release() {
	const most = 4 << 10 // bytes worth keeping
	if !m.pooled || cap(m.entries[0].data) > most {
		return
	}
	m.turn, m.host = nil, nil
	m.entries[0] = entry{data: m.entries[0].data}
	deltaMessages.Put(m)
}
