package wsclient

import (
	"context"
	"errors"
	"slices"
	"time"

	"agentctl/internal/panics"
	"agentctl/protocol"
)

// A connector makes connection attempts and schedules the delays between them. The event loop owns
// it and calls it only while no connection is open.
type connector struct {
	// Static.
	dialer  *dialer
	options Options
	state   *stateBox
	hello   []byte // encoded hello command
	results chan dialResult

	opened    int                // connections opened so far
	attempt   int                // consecutive failed attempts, including the running one
	delays    int                // consecutive delays
	startedAt time.Time          // start of the last attempt
	cancel    context.CancelFunc // of the running attempt; nil if none
	timer     *time.Timer        // fires at the next attempt
	waiting   bool               // timer is running
	exhausted bool               // MaxAttempts reached: offline until Connect or Retry
	waiters   []chan error       // one per Connect call; each has room for its result
}

type dialResult struct {
	conn *conn
	err  error
}

func newConnector(c *Client) connector {
	hello := protocol.HelloData{
		Version: protocol.Version, Name: c.options.Name, Agent: c.options.UserAgent,
		Acks: c.options.Window >= 0, Window: max(c.options.Window, 0),
	}
	cmd := protocol.Command{ID: "hello", Command: protocol.DoHello, Data: protocol.MustEncode(hello)}
	k := connector{
		dialer: c.dialer, options: c.options, state: c.state, hello: protocol.MustEncode(cmd),
		results: make(chan dialResult, 1), timer: time.NewTimer(time.Hour),
	}
	k.timer.Stop()
	return k
}

// ensure starts an attempt unless one is running or scheduled, or the attempts are exhausted.
func (k *connector) ensure() {
	if k.cancel == nil && !k.waiting && !k.exhausted {
		k.attempt, k.delays = 0, 0
		k.dial()
	}
}

// retryNow starts an attempt without the delay. Attempts start at least retrySpacing apart.
func (k *connector) retryNow() {
	k.exhausted = false
	if k.cancel != nil {
		return
	}
	if !k.waiting {
		k.attempt, k.delays = 0, 0
	}
	now := k.state.current()
	earliest := k.startedAt.Add(retrySpacing)
	wait := time.Until(earliest)
	switch {
	case wait <= 0:
		k.timer.Stop()
		k.waiting = false
		k.dial()
	case !k.waiting || now.RetryAt.After(earliest):
		k.timer.Reset(wait)
		k.waiting = true
		k.state.set(ConnState{Phase: k.phase(), Attempt: k.attempt + 1, RetryAt: earliest, Err: now.Err})
	}
}

// phase returns the phase of a client that has no connection and wants one.
func (k *connector) phase() Phase {
	if k.opened > 0 {
		return PhaseReconnecting
	}
	return PhaseConnecting
}

// dial starts an attempt, which sends one value on results.
func (k *connector) dial() {
	k.attempt++
	k.startedAt = time.Now()
	k.state.set(ConnState{Phase: k.phase(), Attempt: k.attempt, Err: k.state.current().Err})
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel = cancel
	go func() {
		var r dialResult
		if err := panics.Call(func() { r.conn, r.err = openConn(ctx, k.dialer, k.hello) }); err != nil {
			r.err = err
		}
		k.results <- r
	}()
}

// finish releases the attempt whose result was received.
func (k *connector) finish() {
	k.cancel()
	k.cancel = nil
}

// stop cancels the running attempt and closes its connection, if it opened one.
func (k *connector) stop() {
	k.timer.Stop()
	if k.cancel == nil {
		return
	}
	k.cancel()
	if r := <-k.results; r.conn != nil {
		r.conn.close()
	}
}

// disconnected updates the counters after a connection ended. receivedAny reports whether the
// server sent anything. Without it an open dialect connection does not count as a success.
func (k *connector) disconnected(receivedAny bool) {
	switch {
	case receivedAny, time.Since(k.startedAt) >= openTimeout:
		k.attempt, k.delays = 0, 0
	case k.opened == 1: // the server never accepted this client
		k.opened = 0
	}
}

// failed handles a failed attempt or a lost connection: it schedules the next attempt or goes
// offline. It returns true if the failure is final for everything that waits on the client.
func (k *connector) failed(err error) (final bool) {
	connectErr, ok := errors.AsType[*ConnectError](err)
	switch {
	case ok && connectErr.Refused(), k.opened == 0 && k.options.NoRetryFirst:
		k.state.set(ConnState{Phase: PhaseOffline, Err: err})
		k.notify(err)
		return true
	case k.options.MaxAttempts > 0 && k.attempt >= k.options.MaxAttempts:
		k.exhausted = true
		k.state.set(ConnState{Phase: PhaseOffline, Err: err})
		k.notify(err)
	default:
		k.delays++
		wait := k.dialer.delay(k.delays, k.options.Rand())
		k.timer.Reset(wait)
		k.waiting = true
		k.state.set(ConnState{Phase: k.phase(), Attempt: k.attempt + 1, RetryAt: time.Now().Add(wait), Err: err})
	}
	return false
}

func (k *connector) removeWaiter(w chan error) {
	k.waiters = slices.DeleteFunc(k.waiters, func(other chan error) bool { return other == w })
}

// notify sends the result of connecting to all waiters.
func (k *connector) notify(err error) {
	for _, w := range k.waiters {
		w <- err
	}
	k.waiters = nil
}

// await sends nil to w once the connection is open, or the error that ended the attempts.
func (l *eventLoop) await(w chan error) {
	if l.conn != nil && !l.closing {
		w <- nil
		return
	}
	l.connector.waiters = append(l.connector.waiters, w)
	if !l.closing { // else the attempt after it decides
		l.connector.exhausted = false
		l.connector.ensure()
	}
}

func (l *eventLoop) retryNow() {
	if l.conn == nil {
		l.connector.retryNow()
	}
}

// finishDial handles the result of an attempt. A new connection gets all subscriptions, the watch
// and the unanswered requests.
func (l *eventLoop) finishDial(r dialResult) {
	l.connector.finish()
	if r.err != nil {
		l.connectFailed(r.err)
		return
	}
	c := l.client
	l.conn = r.conn
	l.connector.opened++
	hello := r.conn.hello
	c.hello.Store(&hello)
	c.ephemeral.Store(r.conn.ephemeral)
	c.window.Store(0)
	if c.options.Window >= 0 {
		c.window.Store(hello.Window)
	}
	l.heartbeat.start(l.conn.transport.Received())
	for s := range l.subscriptions.active {
		l.subscriptions.subscribe(s)
	}
	l.sendWatch()
	l.requests.resend()
	c.state.set(ConnState{Phase: PhaseOpen})
	l.connector.notify(nil)
}

// beginClosing handles the start of the end of the connection. reason may be nil: not known yet.
func (l *eventLoop) beginClosing(reason error) {
	l.closing = true
	l.heartbeat.stop()
	l.client.state.set(ConnState{Phase: PhaseClosing, Err: reason})
}

// disconnected handles the end of the connection.
func (l *eventLoop) disconnected(err error) {
	l.connector.disconnected(l.conn.transport.Received() > 0)
	l.conn, l.closing = nil, false
	l.heartbeat.stop()
	l.subscriptions.resetAll()
	l.requests.reset()
	l.connectFailed(l.client.dialer.connectionError(err))
}

// drop closes the open connection for a reason found by the client.
func (l *eventLoop) drop(reason error) {
	l.beginClosing(reason)
	l.conn.drop()
	l.disconnected(reason)
}

// connectFailed handles a failed attempt or a lost connection.
func (l *eventLoop) connectFailed(err error) {
	if panics.As(err) != nil {
		l.broken = err
		return
	}
	l.client.dialer.observer.record(Frame{Note: "not connected: " + err.Error()})
	if l.connector.failed(err) {
		l.failAll(err)
	}
}

// failAll ends all requests, subscriptions and watches.
func (l *eventLoop) failAll(err error) {
	l.requests.failAll(err)
	for s := range l.subscriptions.active {
		l.subscriptions.end(s, err)
	}
	l.endWatches(err)
}
