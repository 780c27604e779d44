package session

import (
	"bytes"
	"context"
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/output"
)

// A mailbox holds the channels from other goroutines to a session's goroutine. The first two are
// unbuffered: a posted function always runs.
type mailbox struct {
	requests chan request                 // of clients
	inbox    chan func()                  // of the session's own goroutines
	output   *output.Queue[*agentMessage] // of the agent
	done     chan struct{}                // closed when the session's goroutine has ended
}

// A request is a function that a client's command runs on the session's goroutine. While the
// session cannot be read from the store, refuse runs instead.
type request struct {
	run    func()
	refuse func(error)
}

func newMailbox() *mailbox {
	return &mailbox{make(chan request), make(chan func()), output.NewQueue[*agentMessage](), make(chan struct{})}
}

// ask posts a request. It returns false when the session has ended, and the cause of the context when
// that ends first.
func (b *mailbox) ask(ctx context.Context, r request) (bool, error) {
	select {
	case b.requests <- r:
		return true, nil
	case <-b.done:
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// post runs f on the session's goroutine. It returns false when the session has ended.
func (b *mailbox) post(f func()) bool {
	select {
	case b.inbox <- f:
		return true
	case <-b.done:
		return false
	}
}

// await runs f on the session's goroutine, and returns what f calls done with, once.
func (b *mailbox) await(ctx context.Context, f func(done func(error))) error {
	result := make(chan error, 1)
	if !b.post(func() { f(func(err error) { result <- err }) }) {
		return errTurnOver
	}
	select {
	case err := <-result:
		return err
	case <-b.done:
		return errTurnOver
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// runNext runs a request or function that waits. It returns false if none does.
func (b *mailbox) runNext() bool {
	select {
	case r := <-b.requests:
		r.run()
	case f := <-b.inbox:
		f()
	default:
		return false
	}
	return true
}

// emit sends a message of the agent. It blocks while the log is behind, and fails when the turn or
// the session has ended.
func (b *mailbox) emit(m *agentMessage) error {
	over := b.done
	if m.turn != nil {
		over = m.turn.done
	}
	if !b.output.Put(m, over, b.done) {
		return errTurnOver
	}
	return nil
}

// emitEvent sends an event of a turn or, outside a turn, of a host, with the state to save.
func (b *mailbox) emitEvent(t *turn, h *host, e *agent.Event) error {
	if m := newDeltaMessage(e); m != nil {
		m.turn, m.host = t, h
		return b.emit(m)
	}
	event, err := output.Sanitize(*e)
	if err != nil {
		return err
	}
	return b.emitState(&agentMessage{turn: t, host: h, event: event}, e.Save)
}

// maxState bounds the bytes of an agent's saved state.
const maxState = 1 << 20

// emitState sends m with a state to save; nil: none.
func (b *mailbox) emitState(m *agentMessage, state []byte) error {
	if len(state) > maxState {
		return protocol.Errorf(protocol.CodeTooLarge, "an agent's state holds at most %d bytes", maxState)
	}
	m.state = bytes.Clone(state)
	return b.emit(m)
}

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
