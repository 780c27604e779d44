package session

import (
	"slices"
	"time"

	"agentctl/protocol"
)

// An editHold is the connection behind an edit hold.
type editHold struct {
	conn  string    // empty: unknown
	until time.Time // end of the hold; zero while the connection lives
}

// queueHold holds the queue, or one message while its caller edits it. A second edit hold of the
// same actor moves the first to the new connection.
func (s *Session) queueHold(cmd *command, d *protocol.QueueHoldData) (any, error) {
	if n := s.hub.settings().Limits.Queue; len(s.state.Holds) >= n {
		return nil, &protocol.Error{
			Code: protocol.CodeTooMany, Limit: int64(n), Message: "the queue has too many holds: release them",
		}
	}
	if d.MessageID == "" {
		return protocol.QueueHoldResult{Hold: s.addHold(protocol.HoldUser, "", &cmd.by)}, nil
	}
	if _, err := s.queuedMessage(cmd, d.MessageID); err != nil {
		return nil, err
	}
	var id string
	if h := s.editHoldOf(d.MessageID); h != nil {
		id = h.ID
	} else {
		id = s.addHold(protocol.HoldEdit, d.MessageID, &cmd.by)
	}
	s.editHolds[id] = editHold{conn: cmd.conn}
	if !s.subscribers.connected(cmd.conn) {
		s.startHoldTimeouts(cmd.conn)
	}
	return protocol.QueueHoldResult{Hold: id}, nil
}

// queueRelease releases the named hold; with no name, all holds but edit holds of other actors.
func (s *Session) queueRelease(cmd *command, d *protocol.QueueReleaseData) (any, error) {
	var ids []string
	for _, h := range s.state.Holds {
		if d.Hold == h.ID || d.Hold == "" && (h.Reason != protocol.HoldEdit || sameActor(h.By, &cmd.by)) {
			ids = append(ids, h.ID)
		}
	}
	if d.Hold != "" && len(ids) == 0 {
		return nil, protocol.Errorf(protocol.CodeNotFound, "there is no hold %.80q", d.Hold)
	}
	if len(ids) > 0 {
		s.releaseHolds(&cmd.by, ids...)
	}
	s.startNext()
	return protocol.QueueReleaseResult{Released: append([]string{}, ids...)}, nil
}

// addHold records a hold and returns its id.
func (s *Session) addHold(reason, message string, by *protocol.Actor) string {
	h := protocol.Hold{ID: NewID(idHold), Reason: reason, MessageID: message, By: by}
	s.record(protocol.QueueHeld, by, h)
	return h.ID
}

func (s *Session) releaseHolds(by *protocol.Actor, holds ...string) {
	s.record(protocol.QueueReleased, by, protocol.QueueReleasedData{Holds: holds})
	for _, id := range holds {
		delete(s.editHolds, id)
	}
}

// editHoldOf returns the edit hold on a message, or nil.
func (s *Session) editHoldOf(message string) *protocol.Hold {
	for i := range s.state.Holds {
		if h := &s.state.Holds[i]; h.Reason == protocol.HoldEdit && h.MessageID == message {
			return h
		}
	}
	return nil
}

// startHoldTimeouts starts the timeout of the edit holds of a closed connection.
func (s *Session) startHoldTimeouts(conn string) {
	for id, h := range s.editHolds {
		if h.conn == conn && h.until.IsZero() {
			s.editHolds[id] = editHold{conn, time.Now().Add(s.hub.settings().EditHold)}
			s.scheduleTimer()
		}
	}
}

// holdsEdit reports whether a connection has an edit hold.
func (s *Session) holdsEdit(conn string) bool {
	for _, h := range s.editHolds {
		if h.conn == conn {
			return true
		}
	}
	return false
}

// adoptEditHolds starts the timeout of edit holds without a known connection: those from before a
// restart, and those whose release was not committed.
func (s *Session) adoptEditHolds() {
	for _, h := range s.state.Holds {
		if _, known := s.editHolds[h.ID]; h.Reason == protocol.HoldEdit && !known && !s.state.Closed {
			s.editHolds[h.ID] = editHold{until: time.Now().Add(s.hub.settings().EditHold)}
		}
	}
}

// expireEditHolds releases the edit holds whose timeout has passed.
func (s *Session) expireEditHolds(now time.Time) {
	var ids []string
	for id, h := range s.editHolds {
		switch {
		case !slices.ContainsFunc(s.state.Holds, func(held protocol.Hold) bool { return held.ID == id }):
			delete(s.editHolds, id) // gone with its message
		case h.until.IsZero():
		case !now.Before(h.until):
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		slices.Sort(ids)
		s.releaseHolds(nil, ids...)
		s.startNext()
	}
}
