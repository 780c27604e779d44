package wsclient

import (
	"context"
	"errors"
	"slices"
	"time"

	"agentctl/internal/panics"
)

// A waiter is told once how connecting ended. It has room for that.
type waiter chan error

// await connects when nobody does yet and tells w how it went.
func (l *loop) await(w waiter) {
	if l.link != nil {
		w <- nil
		return
	}
	l.waiters = append(l.waiters, w)
	l.spent = false
	l.need()
}

func (l *loop) leave(w waiter) {
	l.waiters = slices.DeleteFunc(l.waiters, func(other waiter) bool { return other == w })
}

// need connects unless that is under way or the attempts are used up.
func (l *loop) need() {
	if l.link == nil && l.dialing == nil && !l.retrying && !l.spent {
		l.attempt, l.waits = 0, 0
		l.dial()
	}
}

// retryNow tries without the delay; however often it is asked, attempts start retrySpacing apart.
func (l *loop) retryNow() {
	l.spent = false
	if l.link != nil || l.dialing != nil {
		return
	}
	if !l.retrying {
		l.attempt, l.waits = 0, 0
	}
	now := l.c.State()
	soon := l.tried.Add(retrySpacing)
	wait := time.Until(soon)
	switch {
	case wait <= 0:
		l.retry.Stop()
		l.retrying = false
		l.dial()
	case !l.retrying || now.RetryAt.After(soon):
		l.retry.Reset(wait)
		l.retrying = true
		l.c.state.set(ConnState{Phase: l.trying(), Attempt: l.attempt + 1, RetryAt: soon, Err: now.Err})
	}
}

// trying is the phase of a client without a connection that wants one.
func (l *loop) trying() Phase {
	if l.links > 0 {
		return PhaseReconnecting
	}
	return PhaseConnecting
}

func (l *loop) dial() {
	l.attempt++
	l.tried = time.Now()
	l.c.state.set(ConnState{Phase: l.trying(), Attempt: l.attempt, Err: l.c.State().Err})
	ctx, cancel := context.WithCancel(context.Background())
	l.dialing = cancel
	go func() {
		var d dialed
		if err := panics.Call(func() { d.link, d.err = open(ctx, l.c.dialer, l.hello) }); err != nil {
			d.err = err
		}
		l.dialed <- d
	}()
}

func (l *loop) attempted(d dialed) {
	l.dialing()
	l.dialing = nil
	if d.err != nil {
		l.failed(d.err)
		return
	}
	l.link = d.link
	l.links++
	hello := d.link.hello
	l.c.hello.Store(&hello)
	l.c.window.Store(0)
	if l.c.options.Window >= 0 {
		l.c.window.Store(hello.Window)
	}
	l.beat.start(l.link.wire.Received())
	l.follow()
	l.watchAll()
	l.sendAgain()
	l.c.state.set(ConnState{Phase: PhaseOpen})
	l.tell(nil)
}

// lost is called when the link is over.
func (l *loop) lost(err error) {
	switch heard := l.link.wire.Received() > 0; { // a dialect greets itself
	case heard, time.Since(l.tried) >= openWithin:
		l.attempt, l.waits = 0, 0
	case l.links == 1: // the server took nobody in
		l.links = 0
	}
	l.link = nil
	l.beat.stop()
	l.unfollow()
	l.forgetOnce()
	l.failed(l.c.dialer.lost(err))
}

// drop ends the link for a reason of ours.
func (l *loop) drop(reason error) {
	l.link.drop()
	l.lost(reason)
}

// failed decides what follows a failed attempt or a lost connection.
func (l *loop) failed(err error) {
	if panics.As(err) != nil {
		l.broken = err
		return
	}
	l.c.dialer.tap.note("not connected: " + err.Error())
	var why *ConnectError
	refused := errors.As(err, &why) && why.Refused()
	switch {
	case refused, l.links == 0 && l.c.options.NoRetryFirst:
		l.c.state.set(ConnState{Phase: PhaseOffline, Err: err})
		l.tell(err)
		l.fail(err)
	case l.c.options.MaxAttempts > 0 && l.attempt >= l.c.options.MaxAttempts:
		l.spent = true
		l.c.state.set(ConnState{Phase: PhaseOffline, Err: err})
		l.tell(err)
	default:
		l.waits++
		wait := l.c.dialer.delay(l.waits, l.c.options.Rand())
		l.retry.Reset(wait)
		l.retrying = true
		l.c.state.set(ConnState{Phase: l.trying(), Attempt: l.attempt + 1, RetryAt: time.Now().Add(wait), Err: err})
	}
}

// tell ends the waiting of all who wait for the connection.
func (l *loop) tell(err error) {
	for _, w := range l.waiters {
		w <- err
	}
	l.waiters = nil
}

// fail ends everything that waits for the server's answers.
func (l *loop) fail(err error) {
	for id, c := range l.calls {
		delete(l.calls, id)
		c.answer(nil, err)
	}
	for s := range l.subs {
		l.end(s, err)
	}
	for w := range l.watchers {
		delete(l.watchers, w)
		w.finish(err)
	}
}
