package presence

import (
	"cmp"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/session/record"
)

// A Subscriber is a connection subscribed to sessions. No method may block.
type Subscriber interface {
	// ID is unique among the server's connections.
	ID() string

	// Actor returns the user of the connection, and Program the name of its client program.
	Actor() protocol.Actor
	Program() string

	// Notify queues an ephemeral event, a line without its newline. Of lines with one key only the
	// newest is sent.
	Notify(key string, line []byte)

	// Acked returns the seq up to which the client has acknowledged the session and the bytes sent
	// beyond it. For a client that does not acknowledge, everything written counts as acknowledged;
	// so do deltas that wait for the interval in which a subscription joins them.
	Acked(session string) (seq uint64, bytes int64)
}

// A List holds the subscriptions of a session. One goroutine owns it.
//
// Only listed clients, at most MaxListed, are announced to the others and in lists. So the cost of
// a client does not grow with the number of clients. Listed clients are among the first MaxListed
// of list; the rest of these are listed at nextListing.
type List[S Subscriber] struct {
	session      string
	list         []*client[S] // in the order of attachment
	byConn       map[string]*client[S]
	nextListing  time.Time // when the next clients are listed; zero: not scheduled
	nextLagCheck time.Time // zero: not scheduled
}

type client[S Subscriber] struct {
	subscriber S
	client     protocol.Client // as sent last
	listed     bool
	lagging    bool // was sent as lagging
}

// Bounds of the messages to clients about each other.
const (
	MaxListed     = 32
	ListingPeriod = time.Second // between the listings of clients that replace detached ones

	lagPeriod = time.Second
	lagEvents = 64 // a smaller lag is not sent
)

// New returns the empty list of a session.
func New[S Subscriber](session string) *List[S] {
	return &List[S]{session: session, byConn: map[string]*client[S]{}}
}

// Len returns the number of clients.
func (l *List[S]) Len() int { return len(l.list) }

// Connected reports whether a connection is subscribed.
func (l *List[S]) Connected(conn string) bool { return l.byConn[conn] != nil }

// Add adds a subscriber. It replaces an older subscription of its connection.
func (l *List[S]) Add(sub S) {
	l.remove(sub.ID())
	c := &client[S]{subscriber: sub, client: protocol.Client{Client: sub.ID(), By: sub.Actor(), Agent: sub.Program()}}
	if len(l.list) < MaxListed {
		l.announce(c)
	}
	l.list = append(l.list, c)
	l.byConn[sub.ID()] = c
}

// Remove removes the subscription of a connection; ok is false if it has none. The others are sent
// the reason if they know of the client: if it was listed, or edits a message in the queue.
func (l *List[S]) Remove(conn, reason string, edits bool) (sub S, ok bool) {
	c := l.remove(conn)
	if c == nil {
		return sub, false
	}
	if c.client.Reason = reason; c.listed || edits {
		l.Broadcast(protocol.ClientDetached, c.client)
	}
	return c.subscriber, true
}

// remove removes and returns the subscription of a connection, or returns nil. A listed client
// leaves its place on the list to another.
func (l *List[S]) remove(conn string) *client[S] {
	c := l.byConn[conn]
	if c == nil {
		return nil
	}
	delete(l.byConn, conn)
	i := slices.Index(l.list, c)
	l.list = slices.Delete(l.list, i, i+1)
	unlisted := func(c *client[S]) bool { return !c.listed }
	if c.listed && l.nextListing.IsZero() && slices.ContainsFunc(l.first(), unlisted) {
		l.nextListing = time.Now().Add(ListingPeriod)
	}
	return c
}

// first returns the clients that are listed, or will be.
func (l *List[S]) first() []*client[S] { return l.list[:min(len(l.list), MaxListed)] }

// announce lists a client and notifies the others of it.
func (l *List[S]) announce(c *client[S]) {
	c.listed = true
	l.Broadcast(protocol.ClientAttached, c.client)
}

// Broadcast notifies every subscriber of an ephemeral event. Of events about one client only the
// newest is sent.
func (l *List[S]) Broadcast(typ protocol.Type, data any) {
	key := string(typ) + " " + l.session
	if c, ok := data.(protocol.Client); ok {
		key = l.key(c)
	}
	line := record.Ephemeral(typ, l.session, data)
	for _, c := range l.list {
		c.subscriber.Notify(key, line)
	}
}

// key is the key of events about a client.
func (l *List[S]) key(c protocol.Client) string { return "client " + l.session + " " + c.Client }

// Clients returns the first clients and the client of conn, sorted by name, with their lag behind
// visible. count is the number of all clients, or 0 if the list has all.
func (l *List[S]) Clients(conn string, visible uint64) (list []protocol.Client, count int) {
	shown := slices.Clone(l.first())
	if c := l.byConn[conn]; c != nil && !slices.Contains(shown, c) {
		shown = append(shown, c)
	}
	list = make([]protocol.Client, 0, len(shown))
	for _, c := range shown {
		c.updateLag(l.session, visible)
		list = append(list, c.client)
	}
	slices.SortFunc(list, func(a, b protocol.Client) int {
		return cmp.Or(cmp.Compare(a.By.Name, b.By.Name), cmp.Compare(a.Client, b.Client))
	})
	if len(list) < len(l.list) {
		count = len(l.list)
	}
	return list, count
}

// updateLag computes the client's lag behind the visible log.
func (c *client[S]) updateLag(session string, visible uint64) {
	seq, bytes := c.subscriber.Acked(session)
	c.client.Acked, c.client.LagBytes, c.client.LagEvents = seq, bytes, 0
	if visible > seq {
		c.client.LagEvents = visible - seq
	}
}

// Deadline returns when Check is to be called; zero: not before a change.
func (l *List[S]) Deadline() time.Time {
	if l.nextListing.IsZero() || !l.nextLagCheck.IsZero() && l.nextLagCheck.Before(l.nextListing) {
		return l.nextLagCheck
	}
	return l.nextListing
}

// Grown schedules a check of the lags after the log grew.
func (l *List[S]) Grown() {
	if len(l.list) > 0 && l.nextLagCheck.IsZero() {
		l.nextLagCheck = time.Now().Add(lagPeriod)
	}
}

// Check does the work that is due: it sends changed lags behind visible, and lists the clients that
// have been attached longest to replace detached ones.
func (l *List[S]) Check(now time.Time, visible uint64) {
	if !l.nextLagCheck.IsZero() && !now.Before(l.nextLagCheck) {
		l.checkLag(now, visible)
	}
	if l.nextListing.IsZero() || now.Before(l.nextListing) {
		return
	}
	l.nextListing = time.Time{}
	for _, c := range l.first() {
		if !c.listed {
			l.announce(c)
		}
	}
}

// checkLag sends lags that changed. It schedules itself again while a client lags.
func (l *List[S]) checkLag(now time.Time, visible uint64) {
	l.nextLagCheck = time.Time{}
	for _, c := range l.list {
		before := c.client
		c.updateLag(l.session, visible)
		lagging := c.client.LagEvents >= lagEvents
		if (lagging || c.lagging) && c.client != before {
			l.sendLag(c)
		}
		c.lagging = lagging
		if lagging {
			l.nextLagCheck = now.Add(lagPeriod)
		}
	}
}

// sendLag sends the lag of a client to it and, if all clients are listed, to the others.
func (l *List[S]) sendLag(c *client[S]) {
	if len(l.list) <= MaxListed {
		l.Broadcast(protocol.ClientLag, c.client)
		return
	}
	c.subscriber.Notify(l.key(c.client), record.Ephemeral(protocol.ClientLag, l.session, c.client))
}
