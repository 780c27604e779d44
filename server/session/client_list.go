package session

import (
	"cmp"
	"slices"
	"time"

	"agentctl/protocol"
)

// subscribers are the subscriptions of a session. Owned by its goroutine.
//
// Only listed clients, at most maxListed, are announced to the others and in lists. So the cost of
// a client does not grow with the number of clients. Listed clients are among the first maxListed
// of list; those of them that are not listed will be at nextListing.
type subscribers struct {
	list         []*attachedClient // in the order of attachment
	byConn       map[string]*attachedClient
	nextListing  time.Time // when the next clients are listed; zero: not scheduled
	nextLagCheck time.Time // zero: not scheduled
}

type attachedClient struct {
	subscriber Subscriber
	client     protocol.Client // as sent last
	listed     bool
	lagging    bool // was sent as lagging
}

const (
	lagPeriod = time.Second
	lagEvents = 64 // a smaller lag is not sent

	maxListed     = 32
	listingPeriod = time.Second // between the listings of clients in place of detached ones
)

// connected reports whether a connection is subscribed.
func (u *subscribers) connected(conn string) bool { return u.byConn[conn] != nil }

// add adds a subscriber, in place of a former subscription of its connection.
func (u *subscribers) add(session string, sub Subscriber) {
	u.remove(sub.ID())
	c := &attachedClient{
		subscriber: sub,
		client:     protocol.Client{Client: sub.ID(), By: sub.Actor(), Agent: sub.Program()},
	}
	if len(u.list) < maxListed {
		u.announce(session, c)
	}
	u.list = append(u.list, c)
	if u.byConn == nil {
		u.byConn = map[string]*attachedClient{}
	}
	u.byConn[sub.ID()] = c
}

// remove removes and returns the subscription of a connection, or returns nil. A listed client
// leaves its place on the list to another.
func (u *subscribers) remove(conn string) *attachedClient {
	c := u.byConn[conn]
	if c == nil {
		return nil
	}
	delete(u.byConn, conn)
	i := slices.Index(u.list, c)
	u.list = slices.Delete(u.list, i, i+1)
	unlisted := func(c *attachedClient) bool { return !c.listed }
	if c.listed && u.nextListing.IsZero() && slices.ContainsFunc(u.first(), unlisted) {
		u.nextListing = time.Now().Add(listingPeriod)
	}
	return c
}

// first returns the clients that are listed, or will be.
func (u *subscribers) first() []*attachedClient { return u.list[:min(len(u.list), maxListed)] }

// announce lists a client and notifies the others of it.
func (u *subscribers) announce(session string, c *attachedClient) {
	c.listed = true
	u.broadcast(protocol.ClientAttached, session, c.client)
}

// announceDetached notifies the others that a client was removed, if they know of it: if it was
// listed, or edits a message in the queue.
func (u *subscribers) announceDetached(s *Session, c *attachedClient) {
	if c.listed || s.queue.Edits(c.client.Client) {
		u.broadcast(protocol.ClientDetached, s.id, c.client)
	}
}

// fillList lists the clients that have been attached longest in place of those that have detached.
func (u *subscribers) fillList(session string, now time.Time) {
	if u.nextListing.IsZero() || now.Before(u.nextListing) {
		return
	}
	u.nextListing = time.Time{}
	for _, c := range u.first() {
		if !c.listed {
			u.announce(session, c)
		}
	}
}

// broadcast notifies every subscriber of an ephemeral event. Of events about one client only the
// newest is sent.
func (u *subscribers) broadcast(typ protocol.Type, session string, data any) {
	key := string(typ) + " " + session
	if c, ok := data.(protocol.Client); ok {
		key = clientKey(session, c.Client)
	}
	line := encodeEphemeral(typ, session, data)
	for _, c := range u.list {
		c.subscriber.Notify(key, line)
	}
}

// clientKey is the key of events about a client.
func clientKey(session, client string) string { return "client " + session + " " + client }

// encodeEphemeral encodes an event without a seq.
func encodeEphemeral(typ protocol.Type, session string, data any) []byte {
	e := protocol.Event{Session: session, Type: typ, Time: time.Now(), Data: protocol.MustEncode(data)}
	return e.AppendJSON(nil)
}

// clients returns the first clients and the client of conn, sorted by name. count is the number of
// all clients, or 0 if the list has all.
func (u *subscribers) clients(s *Session, conn string) (list []protocol.Client, count int) {
	shown := slices.Clone(u.first())
	if c := u.byConn[conn]; c != nil && !slices.Contains(shown, c) {
		shown = append(shown, c)
	}
	list = make([]protocol.Client, 0, len(shown))
	for _, c := range shown {
		c.updateLag(s)
		list = append(list, c.client)
	}
	slices.SortFunc(list, func(a, b protocol.Client) int {
		return cmp.Or(cmp.Compare(a.By.Name, b.By.Name), cmp.Compare(a.Client, b.Client))
	})
	if len(list) < len(u.list) {
		count = len(u.list)
	}
	return list, count
}

// updateLag computes the client's lag behind the visible log.
func (c *attachedClient) updateLag(s *Session) {
	seq, bytes := c.subscriber.Acked(s.id)
	c.client.Acked, c.client.LagBytes, c.client.LagEvents = seq, bytes, 0
	if at := s.journal.Log().Position().Seq; at > seq {
		c.client.LagEvents = at - seq
	}
}

// scheduleLagCheck schedules checkLag after the log grew.
func (u *subscribers) scheduleLagCheck() {
	if len(u.list) > 0 && u.nextLagCheck.IsZero() {
		u.nextLagCheck = time.Now().Add(lagPeriod)
	}
}

// checkLag sends lags that changed. It schedules itself again while a client lags.
func (u *subscribers) checkLag(s *Session, now time.Time) {
	if u.nextLagCheck.IsZero() || now.Before(u.nextLagCheck) {
		return
	}
	u.nextLagCheck = time.Time{}
	for _, c := range u.list {
		before := c.client
		c.updateLag(s)
		lagging := c.client.LagEvents >= lagEvents
		if (lagging || c.lagging) && c.client != before {
			u.sendLag(s.id, c)
		}
		c.lagging = lagging
		if lagging {
			u.nextLagCheck = now.Add(lagPeriod)
		}
	}
}

// sendLag sends the lag of a client to it and, if all clients are listed, to the others.
func (u *subscribers) sendLag(session string, c *attachedClient) {
	if len(u.list) <= maxListed {
		u.broadcast(protocol.ClientLag, session, c.client)
		return
	}
	c.subscriber.Notify(clientKey(session, c.client.Client), encodeEphemeral(protocol.ClientLag, session, c.client))
}
