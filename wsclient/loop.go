package wsclient

import (
	"cmp"
	"context"
	"errors"
	"time"

	"agentctl/internal/panics"
	"agentctl/protocol"
)

// errSilent ends a connection whose server does not answer a ping.
var errSilent = errors.New("the server does not answer")

// A loop is the one owner of a client's connection, commands, subscriptions and watchers. It never blocks but in its select;
// others reach it through the client's ops.
type loop struct {
	c      *Client
	hello  []byte // the command
	broken error  // a panic of the client's own: it ends

	link     *link              // nil unless open
	links    int                // opened so far
	attempt  int                // failed or under way since it was last open
	waits    int                // delays in a row
	tried    time.Time          // when the last attempt started
	dialing  context.CancelFunc // nil unless an attempt is under way
	dialed   chan dialed
	retry    *time.Timer
	retrying bool // the timer runs
	spent    bool // the attempts are used up: offline until asked
	waiters  []waiter
	beat     heartbeat

	calls    map[string]*call
	nextID   uint64
	queue    []*call             // to be sent on this link
	flight   map[string]struct{} // sent on this link and not answered, also when nobody waits any more
	message  []byte              // next to be written, made of the queue
	subs     map[*Subscription]struct{}
	routes   map[string]*Subscription   // by session id, those that were answered on this link
	due      map[*Subscription]struct{} // that have an ack to send
	stalled  int                        // subscriptions whose inbox is full; while there are any, nothing is read
	watchers map[*watcher]struct{}
}

type dialed struct {
	link *link
	err  error
}

func newLoop(c *Client) *loop {
	l := &loop{
		c:        c,
		dialed:   make(chan dialed, 1),
		retry:    time.NewTimer(time.Hour),
		calls:    map[string]*call{},
		flight:   map[string]struct{}{},
		subs:     map[*Subscription]struct{}{},
		routes:   map[string]*Subscription{},
		due:      map[*Subscription]struct{}{},
		watchers: map[*watcher]struct{}{},
	}
	l.retry.Stop()
	l.beat = newHeartbeat(c.options.Heartbeat)
	l.hello = protocol.MustEncode(protocol.Command{ID: "hello", Command: protocol.DoHello, Data: protocol.MustEncode(protocol.HelloData{
		Version: protocol.Version, Name: c.options.Name, Agent: c.options.UserAgent,
		Acks: c.options.Window >= 0, Window: max(c.options.Window, 0),
	})})
	return l
}

// run works until the client is closed or broken, and ends all that waits for it. What is left half done by a panic is given up,
// not gone on with.
func (l *loop) run() {
	defer close(l.c.done)
	err := panics.Call(l.work)
	if err == nil {
		err = cmp.Or(l.broken, ErrClosed)
	}
	_ = panics.Call(func() { l.shutdown(err) }) // the first panic is what counts
}

func (l *loop) work() {
	for l.broken == nil {
		var in <-chan []incoming
		var out chan<- []byte
		var down <-chan struct{}
		if l.link != nil {
			down = l.link.done
			if l.stalled == 0 {
				in = l.link.in
			}
			if l.fill() {
				out = l.link.out
			}
		}
		select {
		case <-l.c.quit:
			return
		case op := <-l.c.ops:
			op(l)
		case d := <-l.dialed:
			l.attempted(d)
		case <-l.retry.C:
			l.retrying = false
			l.dial()
		case lines := <-in:
			l.beat.heard()
			l.receive(lines)
		case out <- l.message:
			l.message = nil
		case <-down:
			l.lost(l.link.err)
		case <-l.beat.timer.C:
			l.beats()
		}
	}
}

func (l *loop) receive(lines []incoming) {
	for i := range lines {
		in := &lines[i]
		switch {
		case in.bad != nil:
			l.undecodable(in)
		case in.answer != nil:
			delete(l.flight, in.answer.ID)
			if c := l.calls[in.answer.ID]; c != nil {
				delete(l.calls, in.answer.ID)
				c.answer(in.answer, nil)
			}
		case in.event.Type == protocol.SummaryChanged:
			l.summary(in)
		default:
			if s := l.routes[in.event.Session]; s != nil {
				l.event(s, in)
			}
		}
		if l.link == nil { // dropped over what it said; the rest is not to be trusted
			return
		}
	}
}

// undecodable fails the command whose answer a bad line is. Any other bad line costs the connection: what it was about is
// asked for again from where it stands, and ends with the error when that does not help.
func (l *loop) undecodable(in *incoming) {
	if c := l.calls[in.id]; c != nil {
		delete(l.flight, in.id)
		delete(l.calls, in.id)
		c.answer(nil, in.bad)
		return
	}
	if s := l.routes[in.session]; s != nil {
		l.fault(s, in.bad)
	} else {
		for _, s := range l.routes {
			l.fault(s, in.bad)
		}
	}
	l.drop(in.bad)
}

func (l *loop) beats() {
	switch l.beat.due(l.link.wire.Received(), l.stalled > 0) {
	case beatPing:
		l.send(&call{command: protocol.Command{Command: protocol.DoPing}, answer: func(*protocol.Answer, error) {}})
	case beatDead:
		l.drop(errSilent)
	}
}

// shutdown ends all that the loop owns.
func (l *loop) shutdown(why error) {
	l.retry.Stop()
	l.beat.stop()
	if l.dialing != nil {
		l.dialing()
		if d := <-l.dialed; d.link != nil {
			d.link.close()
		}
	}
	if l.link != nil {
		l.link.close()
	}
	l.c.state.set(ConnState{Phase: PhaseClosed, Err: why})
	l.tell(l.c.dialer.lost(why))
	var told error // who follows asked for nothing that is missing when the client is closed
	if panics.As(why) != nil {
		told = why
	}
	for s := range l.subs {
		if told == nil {
			s.inbox.close()
		} else {
			s.inbox.finish(told)
		}
	}
	for w := range l.watchers {
		delete(l.watchers, w)
		w.finish(told)
	}
	for _, c := range l.calls {
		c.answer(nil, why)
	}
}
