package turn

import (
	"errors"
	"fmt"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// The values of --for.
const (
	ForIdle     = "idle"
	ForApproval = "approval"
	ForTurn     = "turn"
)

// A Waiter applies the events of a session until the condition of wait holds.
type Waiter struct {
	Condition string // value of --for
	Message   string // with ForIdle: idle as to this message, neither queued nor running; empty: the session
	State     *protocol.State
	turns     int                // ended before the call
	started   bool               // turns is set
	live      bool               // state is current
	Ended     *protocol.LastTurn // turn that ended after the call
}

// Apply handles one item and reports whether the condition holds. It returns an error if the
// session needs a person first, or is closed.
func (w *Waiter) Apply(item *wsclient.Item) (done bool, _ error) {
	switch {
	case item.Attached != nil:
		if at := item.Attached; at.Snapshot != nil && at.Snapshot.State != nil {
			w.State, w.live = at.Snapshot.State, false
		}
		if w.State == nil {
			return false, errors.New("wait: the server sent no state")
		}
		w.live = w.live || w.State.Seq >= item.Attached.Position.Seq
	case item.Event.Type == protocol.CaughtUp:
		w.live = true
	case item.Event.Durable():
		if err := w.State.Apply(item.Event); err != nil {
			return false, fmt.Errorf("wait: %w", err)
		}
	}
	if !w.live {
		return false, nil
	}
	if !w.started {
		w.started, w.turns = true, w.State.Turns
	}
	return w.check()
}

func (w *Waiter) check() (done bool, _ error) {
	s := w.State
	if w.Condition == ForTurn && s.Turns > w.turns {
		w.Ended = s.Last
		return true, nil
	}
	if w.Condition == ForApproval && len(s.Approvals) > 0 {
		return true, nil
	}
	if w.Condition == ForIdle && w.idle() {
		return true, nil
	}
	if s.Closed {
		return false, protocol.Errorf(protocol.CodeSessionClosed, "the session was closed")
	}
	if len(s.Approvals) > 0 {
		return false, ApprovalNeeded(s)
	}
	if h := s.BlockingHold(); h != nil && h.Until == nil && len(s.Queue) > 0 && (s.Turn == nil || w.Condition == ForIdle) {
		return false, QueueHeld(s, h)
	}
	return false, nil
}

// idle reports whether the session, or the message, has nothing left to do.
func (w *Waiter) idle() bool {
	s := w.State
	if w.Message != "" {
		return s.QueueIndex(w.Message) < 0 && !s.Turn.Has(w.Message)
	}
	return s.Turn == nil && len(s.Queue) == 0
}
