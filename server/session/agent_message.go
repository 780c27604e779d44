package session

import (
	"sync"

	"agentctl/server/agent"
	"agentctl/server/session/output"
)

// An agentMessage carries output of an agent to the session's goroutine, which records and saves it in one
// commit.
type agentMessage struct {
	turn   *turn          // nil: outside a turn
	host   *host          // of the agent, outside a turn
	event  output.Event   // no entries: none
	pooled bool           // of deltaMessages
	state  []byte         // to be saved; nil: none
	blob   *agent.Blob    // to be saved; nil: none
	do     func(*Session) // what else happens, after that; nil: nothing
}

// deltaMessages holds messages for the deltas of agents, most of what they emit.
var deltaMessages = sync.Pool{New: func() any { return &agentMessage{pooled: true} }}

// newDeltaMessage returns a message with the delta of an agent's event; nil for an event that is not
// a delta of one entry.
func newDeltaMessage(e *agent.Event) *agentMessage {
	if e.Save != nil {
		return nil
	}
	m := deltaMessages.Get().(*agentMessage)
	if !m.event.SetDelta(e) {
		deltaMessages.Put(m)
		return nil
	}
	return m
}

// Size returns the bytes of data in the message.
func (m *agentMessage) Size() int {
	size := len(m.state) + m.event.Size()
	if m.blob != nil {
		size += len(m.blob.Data)
	}
	return size
}

// release returns a message of deltaMessages, which the session has handled.
func (m *agentMessage) release() {
	if m.pooled && m.event.Reset() {
		m.turn, m.host = nil, nil
		deltaMessages.Put(m)
	}
}
