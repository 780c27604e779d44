package session

import (
	"time"

	"agentctl/protocol"
)

// presencePeriod is the least time between two events of a client about what it shows, and between
// two of its pointers.
const presencePeriod = time.Second

// presence is what a client told of itself.
type presence struct {
	lookSent  time.Time // when its look was sent last
	lookDue   bool      // it has changed since
	pointedAt time.Time // its last pointer
}

// look records what a client shows. Of its changes within a period only the last is sent.
func (s *Session) look(cmd *command, d *protocol.LookData) (any, error) {
	c := s.subscribers.byConn[cmd.conn]
	switch l := d.Look; {
	case c == nil:
		return nil, errNotSubscribed()
	case l != nil && (len(l.Turn) > maxID || l.Number < 0):
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "look: not a turn of a session")
	}
	c.client.Look, c.presence.lookDue = d.Look, true
	s.subscribers.checkLooks(s.id, time.Now())
	s.scheduleTimer()
	return protocol.Empty{}, nil
}

// checkLooks sends the looks that are due, and schedules itself for those that have to wait.
func (u *subscribers) checkLooks(session string, now time.Time) {
	u.nextLook = time.Time{}
	for _, c := range u.list {
		if !c.presence.lookDue {
			continue
		}
		if at := c.presence.lookSent.Add(presencePeriod); now.Before(at) {
			if u.nextLook.IsZero() || at.Before(u.nextLook) {
				u.nextLook = at
			}
			continue
		}
		c.presence.lookSent, c.presence.lookDue = now, false
		if c.listed { // the others know of it
			u.broadcast(protocol.ClientLook, session, c.client)
		}
	}
}

// point shows the other clients an item. It records nothing.
func (s *Session) point(cmd *command, d *protocol.PointData) (any, error) {
	c, now := s.subscribers.byConn[cmd.conn], time.Now()
	switch {
	case c == nil:
		return nil, errNotSubscribed()
	case d.Turn == "" || len(d.Turn) > maxID || len(d.Kind) > maxID || len(d.Item) > maxID:
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "point: not an item of a session")
	case now.Before(c.presence.pointedAt.Add(presencePeriod)):
		return nil, &protocol.Error{
			Code: protocol.CodeTooMany, Limit: 1, Message: "one pointer a second: point again in a moment",
		}
	}
	c.presence.pointedAt = now
	s.subscribers.broadcast(protocol.ClientPointed, s.id, protocol.PointedData{
		Client: c.client.Client, By: c.client.By, PointData: *d,
	})
	return protocol.Empty{}, nil
}

func errNotSubscribed() error {
	return protocol.Errorf(protocol.CodeNotSubscribed, "the connection is not subscribed to the session")
}
