package session

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
)

// partPlan is the type of the message part that holds the tasks of a plan.run.
const partPlan = "plan"

// send starts a turn with the message. It queues the message while a turn runs, the queue is held,
// or other messages wait.
func (s *Session) send(cmd *command, d *protocol.SendData) (any, error) {
	if d.Text == "" && len(d.Parts) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "send: text or parts: missing")
	}
	m := protocol.Message{Text: d.Text, Parts: d.Parts, ClientMessageID: d.ClientMessageID}
	if d.NotBefore != nil && d.NotBefore.After(time.Now()) {
		return s.scheduleMessage(cmd, m, d)
	}
	return s.acceptMessage(cmd, m, d.Front)
}

// planRun sends a message with the tasks of its plan.
func (s *Session) planRun(cmd *command, d *protocol.PlanRunData) (any, error) {
	if _, err := s.openAgent(); err != nil {
		return nil, err
	}
	if !s.capabilities.RunsPlans {
		return nil, s.unsupported("run plans")
	}
	if len(d.Tasks) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "plan.run: tasks: missing")
	}
	part := protocol.Part{Type: partPlan, Data: protocol.MustEncode(d)}
	return s.acceptMessage(cmd, protocol.Message{Text: d.Question, Parts: []protocol.Part{part}}, false)
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

// acceptMessage starts or queues a message and returns the SendResult.
func (s *Session) acceptMessage(cmd *command, m protocol.Message, front bool) (any, error) {
	if err := s.hub.checkDisk(); err != nil {
		return nil, err
	}
	m.MessageID, m.By = NewID(idMessage), &cmd.by
	if err := sanitizeMessage(&m); err != nil {
		return nil, err
	}
	if s.startsNow(front) {
		e := s.start(m)
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: m.MessageID, Turn: e.Turn, Seq: e.Seq}, nil
	}
	at := timestamp()
	m.QueuedAt = &at
	if err := s.checkQueue(&m); err != nil {
		return nil, err
	}
	added := protocol.QueueAddedData{Message: m}
	index := len(s.state.Queue)
	if front {
		index = 0
		added.Index = &index
	}
	e := s.record(protocol.QueueAdded, &cmd.by, added)
	return protocol.SendResult{Status: protocol.SendQueued, MessageID: m.MessageID, Index: &index, Seq: e.Seq}, nil
}

// startsNow reports whether a new message, at the end of the queue or in front of it, starts a
// turn. Edit holds do not matter: they are about other messages.
func (s *Session) startsNow(front bool) bool {
	if s.turn != nil || s.state.Turn != nil || s.closing() || len(s.state.Queue) > 0 && !front {
		return false
	}
	return !slices.ContainsFunc(s.state.Holds, func(h protocol.Hold) bool { return h.Reason != protocol.HoldEdit })
}

// sanitizeMessage makes a user's message valid UTF-8. A message too large for an event is refused
// with too_large.
func sanitizeMessage(m *protocol.Message) error {
	const room = protocol.MaxEvent - envelope
	m.Text, m.ClientMessageID = protocol.ValidText(m.Text), protocol.ValidText(m.ClientMessageID)
	raw, err := encode(m)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidMessage, "parts: not JSON")
	}
	if len(raw) > room {
		return &protocol.Error{
			Code:    protocol.CodeTooLarge,
			Limit:   room,
			Message: "message too long: put large content into a file that the agent can read",
		}
	}
	return nil
}

// queuedMessage returns the queued or scheduled message that a command names. A message that
// another actor edits is refused with conflict.
func (s *Session) queuedMessage(cmd *command, id string) (*protocol.Message, error) {
	list, i := s.state.Queue, s.state.QueueIndex(id)
	if i < 0 {
		list, i = s.state.Scheduled, s.state.ScheduledIndex(id)
	}
	if i < 0 {
		return nil, protocol.Errorf(protocol.CodeNotFound, "message %.80q is not queued: its turn may have started", id)
	}
	if h := s.editHoldOf(id); h != nil && !sameActor(h.By, &cmd.by) {
		return nil, protocol.Errorf(protocol.CodeConflict, "%s is editing this message", h.By.Name)
	}
	return &list[i], nil
}

func sameActor(a, b *protocol.Actor) bool { return a != nil && b != nil && *a == *b }

// queueEdit replaces the content of a queued message and releases the caller's edit hold on it.
func (s *Session) queueEdit(cmd *command, d *protocol.QueueEditData) (any, error) {
	m, err := s.queuedMessage(cmd, d.MessageID)
	if err != nil {
		return nil, err
	}
	if d.Text == "" && len(d.Parts) == 0 {
		return nil, protocol.Errorf(
			protocol.CodeInvalidMessage,
			"queue.edit: text: missing; remove the message instead",
		)
	}
	edited := *m
	edited.Text, edited.Parts = d.Text, d.Parts
	if err := cmp.Or(sanitizeMessage(&edited), s.checkQueue(&edited)); err != nil {
		return nil, err
	}
	s.record(
		protocol.QueueUpdated,
		&cmd.by,
		protocol.QueueUpdatedData{MessageID: d.MessageID, Text: edited.Text, Parts: edited.Parts},
	)
	if h := s.editHoldOf(d.MessageID); h != nil {
		s.releaseHolds(&cmd.by, h.ID)
	}
	s.startNext()
	return protocol.Empty{}, nil
}

func (s *Session) queueRemove(cmd *command, d *protocol.QueueRemoveData) (any, error) {
	if _, err := s.queuedMessage(cmd, d.MessageID); err != nil {
		if protocol.CodeOf(err) == protocol.CodeNotFound {
			return protocol.QueueRemoveResult{}, nil
		}
		return nil, err
	}
	s.record(
		protocol.QueueRemoved,
		&cmd.by,
		protocol.QueueRemovedData{MessageID: d.MessageID, Reason: protocol.RemovedUser},
	)
	s.startNext() // an edit hold may have gone with the message
	return protocol.QueueRemoveResult{Removed: true}, nil
}

func (s *Session) queueMove(cmd *command, d *protocol.QueueMoveData) (any, error) {
	if _, err := s.queuedMessage(cmd, d.MessageID); err != nil {
		return nil, err
	}
	if s.state.QueueIndex(d.MessageID) < 0 {
		return nil, protocol.Errorf(protocol.CodeConflict, "queue.move: the message is scheduled, not in the queue yet")
	}
	d.Index = max(0, min(d.Index, len(s.state.Queue)-1))
	s.record(protocol.QueueMoved, &cmd.by, protocol.QueueMovedData{MessageID: d.MessageID, Index: d.Index})
	s.startNext() // another message may be first
	return protocol.Empty{}, nil
}
