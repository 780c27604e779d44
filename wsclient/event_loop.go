package wsclient

import (
	"cmp"

	"agentctl/internal/panics"
	"agentctl/protocol"
)

// An eventLoop is the goroutine that owns a client's connection, requests, subscriptions and
// watchers. It blocks only in the select of work. Other goroutines reach it through Client.post.
type eventLoop struct {
	client *Client
	broken error // panic in an attempt or a connection; ends the loop

	conn      *conn // nil unless open or closing
	closing   bool  // conn is closing: its end is awaited
	heartbeat heartbeat

	connector     connector
	requests      requests
	subscriptions subscriptions
	watchers      map[*watcher]struct{}
}

func newEventLoop(c *Client) *eventLoop {
	l := &eventLoop{
		client:    c,
		heartbeat: newHeartbeat(c.options.Heartbeat),
		connector: newConnector(c),
		requests:  newRequests(),
		watchers:  map[*watcher]struct{}{},
	}
	l.subscriptions = newSubscriptions(l)
	return l
}

// run works until the client is closed or a panic occurs, then ends everything that waits on the
// client. It does not resume work that a panic interrupted.
func (l *eventLoop) run() {
	defer close(l.client.done)
	err := panics.Call(l.work)
	if err == nil {
		err = cmp.Or(l.broken, ErrClosed)
	}
	l.client.state.end(err)
	_ = panics.Call(func() { l.shutdown(err) }) // report the first panic, not a later one
	l.client.state.ended(err)
}

func (l *eventLoop) work() {
	for l.broken == nil {
		var in <-chan []incoming
		var out chan<- []byte
		var closing, closed <-chan struct{}
		if l.conn != nil {
			closed = l.conn.done
			if !l.closing {
				closing = l.conn.closing
			}
			if l.subscriptions.stalled == 0 {
				in = l.conn.in
			}
			if l.requests.message == nil {
				l.requests.buildMessage(l.subscriptions.appendAcks(nil), l.conn.hello.Limits)
			}
			if l.requests.message != nil {
				out = l.conn.out
			}
		}
		select {
		case <-l.client.quit:
			return
		case op := <-l.client.ops:
			op(l)
		case r := <-l.connector.results:
			l.finishDial(r)
		case <-l.connector.timer.C:
			l.connector.waiting = false
			l.connector.dial()
		case lines := <-in:
			l.heartbeat.recordActivity()
			l.receive(lines)
		case out <- l.requests.message:
			l.requests.message = nil
		case <-closing:
			l.beginClosing(nil)
		case <-closed:
			l.disconnected(l.conn.err)
		case <-l.heartbeat.timer.C:
			l.checkHeartbeat()
		}
	}
}

// receive dispatches the lines of one message.
func (l *eventLoop) receive(lines []incoming) {
	for i := range lines {
		in := &lines[i]
		switch {
		case in.err != nil:
			l.decodeFailed(in)
		case in.answer != nil:
			if r := l.requests.complete(in.answer.ID); r != nil {
				r.done(in.answer, nil)
			}
		case in.event.Type == protocol.SummaryChanged:
			l.applySummary(in)
		default:
			if s := l.subscriptions.bySession[in.event.Session]; s != nil {
				l.subscriptions.handleEvent(s, in)
			} else {
				l.applyProcess(in.event)
			}
		}
		if l.conn == nil { // dropped while handling this line: the rest cannot be trusted
			return
		}
	}
}

// applyProcess passes on the start of an agent for which a create waits.
func (l *eventLoop) applyProcess(e *protocol.Event) {
	var p protocol.AgentProcess
	if l.client.options.OnProcess != nil && e.Type == protocol.AgentProcessChanged && e.Decode(&p) == nil {
		l.client.options.OnProcess(p)
	}
}

// decodeFailed handles an invalid line. An invalid answer fails its command. Any other invalid line
// drops the connection; affected subscriptions resume from their positions, and end with the error
// if it recurs.
func (l *eventLoop) decodeFailed(in *incoming) {
	if l.requests.pending[in.id] != nil {
		l.requests.complete(in.id).done(nil, in.err)
		return
	}
	l.subscriptions.recordFault(in.session, in.err)
	l.drop(in.err)
}

func (l *eventLoop) checkHeartbeat() {
	ping, err := l.heartbeat.check(l.conn.transport.Received(), l.subscriptions.stalled > 0)
	if err != nil {
		l.drop(err)
	} else if ping {
		l.sendOnly(protocol.Command{Command: protocol.DoPing})
	}
}

// send assigns an id to a request and sends it on the open connection. Without a connection, a
// resendable request waits for the next one and any other is discarded.
func (l *eventLoop) send(r *request) {
	if l.conn == nil && !r.resend {
		return
	}
	l.requests.add(r)
	if l.conn == nil {
		l.connector.ensure()
		return
	}
	l.requests.queue = append(l.requests.queue, r)
}

// sendOnly sends a command on the open connection and ignores the answer.
func (l *eventLoop) sendOnly(c protocol.Command) {
	l.send(&request{command: c, done: func(*protocol.Answer, error) {}})
}

// shutdown ends everything the loop owns.
func (l *eventLoop) shutdown(reason error) {
	l.heartbeat.stop()
	l.connector.stop()
	if l.conn != nil {
		l.conn.close()
	}
	l.connector.notify(l.client.dialer.connectionError(reason))
	var err error // Close ends subscriptions and watches without an error; a panic is reported
	if panics.As(reason) != nil {
		err = reason
	}
	for s := range l.subscriptions.active {
		if err == nil {
			s.inbox.close()
		} else {
			s.inbox.finish(err)
		}
	}
	l.endWatches(err)
	l.requests.failAll(reason)
}
