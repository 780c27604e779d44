package session

import (
	"context"
	"fmt"

	"agentctl/server/session/output"
)

// A mailbox is what other goroutines send to a session's goroutine. The first two channels are
// unbuffered: what was posted runs.
type mailbox struct {
	requests chan request                 // of clients
	inbox    chan func()                  // of the session's own goroutines
	output   *output.Queue[*agentMessage] // of the agent
}

// A request is a function that a client's command runs on the session's goroutine. While the
// session cannot be read from the store, refuse runs instead.
type request struct {
	run    func()
	refuse func(error)
}

func newMailbox() mailbox {
	return mailbox{make(chan request), make(chan func()), output.NewQueue[*agentMessage]()}
}

// ask posts a request. It returns false when the session has ended.
func (s *Session) ask(ctx context.Context, r request) (bool, error) {
	select {
	case s.requests <- r:
		return true, nil
	case <-s.done:
		return false, nil
	case <-ctx.Done():
		return false, fmt.Errorf("wait for session %s: %w", s.id, context.Cause(ctx))
	}
}

// post runs f on the session's goroutine. It returns false when the session has ended.
func (s *Session) post(f func()) bool {
	select {
	case s.inbox <- f:
		return true
	case <-s.done:
		return false
	}
}
