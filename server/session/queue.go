package session

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
)

// partPlan is the type of the message part that holds the tasks of a plan.run.
const partPlan = "plan"

// send starts a turn with the message, or queues it while a turn runs, the queue is held or others wait.
func (s *Session) send(a *action, d *protocol.SendData) (any, error) {
	if d.Text == "" && len(d.Parts) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "send: text or parts: missing")
	}
	return s.accept(a, protocol.Message{Text: d.Text, Parts: d.Parts, ClientMessageID: d.ClientMessageID}, d.Front)
}

// planRun is a message whose tasks are given.
func (s *Session) planRun(a *action, d *protocol.PlanRunData) (any, error) {
	if _, err := s.open(); err != nil {
		return nil, err
	}
	if !s.traits.RunsPlans {
		return nil, s.unsupported("run plans")
	}
	if len(d.Tasks) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "plan.run: tasks: missing")
	}
	return s.accept(a, protocol.Message{Text: d.Question, Parts: []protocol.Part{{Type: partPlan, Data: protocol.MustEncode(d)}}}, false)
}

// planOf returns the tasks in a message of planRun, or nil.
func planOf(m protocol.Message) *protocol.PlanRunData {
	for _, p := range m.Parts {
		d := new(protocol.PlanRunData)
		if p.Type == partPlan && json.Unmarshal(p.Data, d) == nil && len(d.Tasks) > 0 {
			return d
		}
	}
	return nil
}

func (s *Session) accept(a *action, m protocol.Message, front bool) (any, error) {
	m.MessageID, m.By = NewID(idMessage), &a.by
	if err := fitMessage(&m); err != nil {
		return nil, err
	}
	if s.runsNow(front) {
		e := s.start(m)
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: m.MessageID, Turn: e.Turn, Seq: e.Seq}, nil
	}
	at := stamp()
	m.QueuedAt = &at
	added := protocol.QueueAddedData{Message: m}
	index := len(s.state.Queue)
	if front {
		index = 0
		added.Index = &index
	}
	e := s.record(protocol.QueueAdded, &a.by, added)
	return protocol.SendResult{Status: protocol.SendQueued, MessageID: m.MessageID, Index: &index, Seq: e.Seq}, nil
}

// runsNow reports whether a message that comes in now, behind the queue or in front of it, starts a turn. An edit hold is about
// another message.
func (s *Session) runsNow(front bool) bool {
	if s.turn != nil || s.state.Turn != nil || s.leaving() || len(s.state.Queue) > 0 && !front {
		return false
	}
	return !slices.ContainsFunc(s.state.Holds, func(h protocol.Hold) bool { return h.Reason != protocol.HoldEdit })
}

// fitMessage makes a user's message valid UTF-8 and refuses one that no event can hold.
func fitMessage(m *protocol.Message) error {
	const room = protocol.MaxEvent - envelope
	m.Text, m.ClientMessageID = protocol.ValidText(m.Text), protocol.ValidText(m.ClientMessageID)
	raw, err := encode(m)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidMessage, "parts: not JSON")
	}
	if len(raw) > room {
		return &protocol.Error{Code: protocol.CodeTooLarge, Limit: room, Message: "the message is too long: put large things into a file that the agent can read"}
	}
	return nil
}

// queued returns the queued message that a command names, unless somebody else edits it.
func (s *Session) queued(a *action, id string) (*protocol.Message, error) {
	i := s.state.QueueIndex(id)
	if i < 0 {
		return nil, protocol.Errorf(protocol.CodeNotFound, "message %.80q is not queued: its turn may have started", id)
	}
	if h := s.editHold(id); h != nil && !sameActor(h.By, &a.by) {
		return nil, protocol.Errorf(protocol.CodeConflict, "%s is editing this message", h.By.Name)
	}
	return &s.state.Queue[i], nil
}

func (s *Session) editHold(message string) *protocol.Hold {
	for i := range s.state.Holds {
		if h := &s.state.Holds[i]; h.Reason == protocol.HoldEdit && h.MessageID == message {
			return h
		}
	}
	return nil
}

func sameActor(a, b *protocol.Actor) bool { return a != nil && b != nil && *a == *b }

// queueEdit replaces a queued message's words. It lifts the caller's edit hold, and the queue runs on.
func (s *Session) queueEdit(a *action, d *protocol.QueueEditData) (any, error) {
	m, err := s.queued(a, d.MessageID)
	if err != nil {
		return nil, err
	}
	if d.Text == "" && len(d.Parts) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "queue.edit: text: missing; remove the message instead")
	}
	edited := *m
	edited.Text, edited.Parts = d.Text, d.Parts
	if err := fitMessage(&edited); err != nil {
		return nil, err
	}
	s.record(protocol.QueueUpdated, &a.by, protocol.QueueUpdatedData{MessageID: d.MessageID, Text: edited.Text, Parts: edited.Parts})
	if h := s.editHold(d.MessageID); h != nil {
		s.release(&a.by, h.ID)
	}
	s.next()
	return protocol.Empty{}, nil
}

func (s *Session) queueRemove(a *action, d *protocol.QueueRemoveData) (any, error) {
	if _, err := s.queued(a, d.MessageID); err != nil {
		if protocol.CodeOf(err) == protocol.CodeNotFound {
			return protocol.QueueRemoveResult{}, nil
		}
		return nil, err
	}
	s.record(protocol.QueueRemoved, &a.by, protocol.QueueRemovedData{MessageID: d.MessageID, Reason: protocol.RemovedUser})
	s.next() // an edit hold may have gone with it
	return protocol.QueueRemoveResult{Removed: true}, nil
}

func (s *Session) queueMove(a *action, d *protocol.QueueMoveData) (any, error) {
	if _, err := s.queued(a, d.MessageID); err != nil {
		return nil, err
	}
	d.Index = max(0, min(d.Index, len(s.state.Queue)-1))
	s.record(protocol.QueueMoved, &a.by, protocol.QueueMovedData{MessageID: d.MessageID, Index: d.Index})
	s.next() // another message may be first now
	return protocol.Empty{}, nil
}

// An editor is the connection behind an edit hold. until is when the hold ends, once the connection is gone.
type editor struct {
	conn  string
	until time.Time
}

// queueHold holds the queue, or one message while its caller edits it. Held again by the same person, an edit hold moves to
// the new connection.
func (s *Session) queueHold(a *action, d *protocol.QueueHoldData) (any, error) {
	if d.MessageID == "" {
		return protocol.QueueHoldResult{Hold: s.hold(protocol.HoldUser, "", &a.by)}, nil
	}
	if _, err := s.queued(a, d.MessageID); err != nil {
		return nil, err
	}
	var id string
	if h := s.editHold(d.MessageID); h != nil {
		id = h.ID
	} else {
		id = s.hold(protocol.HoldEdit, d.MessageID, &a.by)
	}
	s.editors[id] = editor{conn: a.conn}
	if !s.audience.connected(a.conn) {
		s.leaveEdits(a.conn)
	}
	return protocol.QueueHoldResult{Hold: id}, nil
}

func (s *Session) hold(reason, message string, by *protocol.Actor) string {
	h := protocol.Hold{ID: NewID(idHold), Reason: reason, MessageID: message, By: by}
	s.record(protocol.QueueHeld, by, h)
	return h.ID
}

// queueRelease lifts the named hold, or all but other people's edit holds; then the queue runs.
func (s *Session) queueRelease(a *action, d *protocol.QueueReleaseData) (any, error) {
	var ids []string
	for _, h := range s.state.Holds {
		if d.Hold == h.ID || d.Hold == "" && (h.Reason != protocol.HoldEdit || sameActor(h.By, &a.by)) {
			ids = append(ids, h.ID)
		}
	}
	if d.Hold != "" && len(ids) == 0 {
		return nil, protocol.Errorf(protocol.CodeNotFound, "there is no hold %.80q", d.Hold)
	}
	if len(ids) > 0 {
		s.release(&a.by, ids...)
	}
	s.next()
	return protocol.QueueReleaseResult{Released: append([]string{}, ids...)}, nil
}

func (s *Session) release(by *protocol.Actor, holds ...string) {
	s.record(protocol.QueueReleased, by, protocol.QueueReleasedData{Holds: holds})
	for _, id := range holds {
		delete(s.editors, id)
	}
}

// leaveEdits starts the time after which the edit holds of a gone connection end.
func (s *Session) leaveEdits(conn string) {
	for id, ed := range s.editors {
		if ed.conn == conn && ed.until.IsZero() {
			s.editors[id] = editor{conn, time.Now().Add(s.hub.cfg.EditHold)}
			s.arm()
		}
	}
}

// adoptEdits starts the time of edit holds whose connection is not known: of before a restart, or lifted by a commit that failed.
func (s *Session) adoptEdits() {
	for _, h := range s.state.Holds {
		if _, known := s.editors[h.ID]; h.Reason == protocol.HoldEdit && !known && !s.state.Closed {
			s.editors[h.ID] = editor{until: time.Now().Add(s.hub.cfg.EditHold)}
		}
	}
}

// expireEdits lifts the edit holds whose time is over.
func (s *Session) expireEdits(now time.Time) {
	var ids []string
	for id, ed := range s.editors {
		switch {
		case !slices.ContainsFunc(s.state.Holds, func(h protocol.Hold) bool { return h.ID == id }):
			delete(s.editors, id) // went with its message
		case ed.until.IsZero():
		case !now.Before(ed.until):
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		slices.Sort(ids)
		s.release(nil, ids...)
		s.next()
	}
}
