package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

const (
	waitTurn    = "turn"      // the only value of the parameter wait
	defaultWait = time.Minute // of the parameter timeout
	maxWait     = time.Hour
)

// Statuses of a message, in addition to the statuses of send.
const (
	MessageEnded   = "ended"
	MessageRemoved = "removed" // from the queue
)

// Values of MessageResult.Needs: what the turn waits for.
const (
	NeedsApproval = "approval" // a request is pending
	NeedsRelease  = "release"  // the queue is held
)

// MessageResult is the state of a message. Status is started, steering, queued, ended or removed. A message
// that joined a turn has started.
type MessageResult struct {
	Status    string `json:"status"`
	MessageID string `json:"message_id"`
	Turn      string `json:"turn,omitempty"`  // when started
	Index     *int   `json:"index,omitempty"` // when queued
	Seq       uint64 `json:"seq,omitempty"`   // of the event that records it, in the answer to a new message

	Reason string `json:"reason,omitempty"` // why a message with delivery steer is queued, in the answer to it

	Needs   string                `json:"needs,omitempty"` // approval, release: the turn waits for a user
	Outcome *protocol.TurnOutcome `json:"outcome,omitempty"`
}

// final reports whether a wait for a message is over.
func (m *MessageResult) final() bool {
	return m.Outcome != nil || m.Needs != "" || m.Status == MessageRemoved
}

// send sends a message. With ?wait=turn it answers when the turn has ended, or needs a user, or
// ?timeout= has passed. A request that is repeated with its key waits for the same turn.
func (a *api) send(w http.ResponseWriter, r *http.Request, route *Route) error {
	wait, err := waitOf(r)
	if err != nil {
		return err
	}
	result, err := a.run(w, r, route)
	if err != nil {
		return err
	}
	if wait == 0 {
		write(w, http.StatusOK, result)
		return nil
	}
	var sent protocol.SendResult
	if err := json.Unmarshal(result, &sent); err != nil {
		return err
	}
	m, err := a.waitFor(r, sent.MessageID, true, wait)
	if err != nil {
		return err
	}
	m.Seq, m.Reason = sent.Seq, sent.Reason
	write(w, http.StatusOK, m)
	return nil
}

// message returns the state of a message, as send does.
func (a *api) message(r *http.Request) (any, error) {
	wait, err := waitOf(r)
	if err != nil {
		return nil, err
	}
	return a.waitFor(r, r.PathValue("message_id"), false, wait)
}

// waitOf returns the time to wait for a turn, 0 without ?wait=turn.
func waitOf(r *http.Request) (time.Duration, error) {
	query := r.URL.Query()
	switch query.Get("wait") {
	case waitTurn:
	case "":
		if query.Has("timeout") {
			return 0, protocol.Errorf(protocol.CodeInvalidMessage, "timeout: only with wait=%s", waitTurn)
		}
		return 0, nil
	default:
		return 0, protocol.Errorf(protocol.CodeInvalidMessage, "wait: want %s", waitTurn)
	}
	if !query.Has("timeout") {
		return defaultWait, nil
	}
	seconds, err := strconv.Atoi(query.Get("timeout"))
	if err != nil || seconds < 1 || seconds > int(maxWait/time.Second) {
		return 0, protocol.Errorf(protocol.CodeInvalidMessage, "timeout: want 1 to %.0f seconds", maxWait.Seconds())
	}
	return time.Duration(seconds) * time.Second, nil
}

// waitFor returns the result of a message in the path's session: the current one if wait is 0.
// known means that the message was accepted. It returns early when the request ends.
func (a *api) waitFor(r *http.Request, message string, known bool, wait time.Duration) (*MessageResult, error) {
	id, err := a.Commands.Resolve(r, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if wait == 0 {
		return a.messageNow(r, id, message, known)
	}
	state, err := a.state(r, id)
	if err != nil {
		return nil, err
	}
	at, sub, detach, err := a.attach(r, id, protocol.Position{Seq: state.Seq})
	if err != nil {
		return nil, err
	}
	defer detach()
	timeout := time.After(wait)
	events := cursor{log: at.Log, after: at.Result.After.Seq, fold: true}
	for {
		m, err := a.messageNow(r, id, message, known)
		if err != nil || m.final() {
			return m, err
		}
		known = true
		for {
			changed, err := events.mayEndWait(r.Context(), sub)
			if r.Context().Err() != nil {
				return nil, Ended(r.Context())
			}
			if err != nil {
				return nil, eventlog.ReadErrorFor(id, err)
			}
			if changed {
				break
			}
			select {
			case <-sub.wake:
			case <-timeout:
				return m, nil
			case <-r.Context().Done():
			}
		}
	}
}

// messageNow returns the state of a message. One that is neither queued nor in a turn was removed.
func (a *api) messageNow(r *http.Request, id, message string, known bool) (*MessageResult, error) {
	state, err := a.state(r, id)
	if err != nil {
		return nil, err
	}
	m := &MessageResult{MessageID: message}
	if i := state.QueueIndex(message); i >= 0 {
		m.Status, m.Index = protocol.SendQueued, &i
		if state.Queue[i].Delivery == protocol.DeliverSteer {
			m.Status = protocol.SendSteering
		}
		switch {
		case len(state.Approvals) > 0:
			m.Needs = NeedsApproval
		case state.BlockingHold() != nil && state.Turn == nil:
			m.Needs = NeedsRelease
		}
		return m, nil
	}
	if t := state.Turn; t.Has(message) {
		m.Status, m.Turn = protocol.SendStarted, t.Turn
		if len(state.Approvals) > 0 {
			m.Needs = NeedsApproval
		}
		return m, nil
	}
	turns, err := a.History.Turns(r.Context(), id, message)
	if err != nil {
		return nil, err
	}
	for _, t := range slices.Backward(turns) {
		has := func(m protocol.Message) bool { return m.MessageID == message }
		if slices.ContainsFunc(t.Messages(), has) && t.End != nil {
			o := protocol.NewTurnOutcome(id, t, t.End)
			o.MessageID = message
			if a.Documents != nil {
				o.Files = a.Documents.ChangedFiles(t.Items)
			}
			m.Status, m.Turn, m.Outcome = MessageEnded, t.Turn, &o
			return m, nil
		}
	}
	if !known {
		return nil, protocol.Errorf(protocol.CodeNotFound, "there is no message %.80q", message)
	}
	m.Status = MessageRemoved
	return m, nil
}

// mayEndWait reads the events that are there and reports whether one of them may end a wait.
func (c *cursor) mayEndWait(ctx context.Context, sub *subscriber) (changed bool, _ error) {
	for {
		more, err := c.next(ctx, func(lines []byte) {
			for line := range bytes.Lines(lines) {
				var e protocol.Event
				_ = json.Unmarshal(line, &e) // this program encoded it
				changed = changed || mayEndWait(e.Type)
			}
		})
		if err != nil || !more {
			return changed, err
		}
		sub.after.Store(c.after)
	}
}

// mayEndWait reports whether a message may have ended, or need a user, after an event of a type.
func mayEndWait(t protocol.Type) bool {
	switch t {
	case protocol.MessageUser, protocol.MessageResolved, protocol.ApprovalRequested, protocol.QueueHeld,
		protocol.QueueMoved, protocol.QueueRemoved, protocol.TurnEnded, protocol.SessionClosed:
		return true
	}
	return false
}
