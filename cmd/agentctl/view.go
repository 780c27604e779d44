package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/url"
	"strings"
	"sync"

	"agentctl/tui/remote"

	"agentctl/internal/panics"
	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/tui/protolog"
	"agentctl/wsclient"
)

// A view is a session of a server as the screen shows it.
type view struct {
	client  *wsclient.Client
	session string
	wire    *protolog.Log // of the client's connection; nil: nobody looks
}

var (
	_ remote.Session    = (*view)(nil)
	_ tui.LogSource         = (*view)(nil)
	_ remote.Retrier    = (*view)(nil)
	_ remote.Withdrawer = (*view)(nil)
)

// Wire is the log of the connection.
func (v *view) Wire() *protolog.Log { return v.wire }

// Retry tries to connect now.
func (v *view) Retry() { v.client.Retry() }

// Do carries out a command; after a lost connection again, with the same key.
func (v *view) Do(ctx context.Context, verb protocol.Verb, data, result any) error {
	body, err := protocol.Encode(data)
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	cmd := protocol.Command{Command: verb, Session: v.session, Data: body}
	if send, ok := data.(protocol.SendData); ok {
		cmd.Key = send.ClientMessageID // so that it can be withdrawn by it
	}
	err = v.client.Do(ctx, cmd, result)
	if errors.Is(err, wsclient.ErrWithdrawn) {
		return remote.ErrWithdrawn
	}
	return err
}

// Withdraw takes back a message that has not gone to the server.
func (v *view) Withdraw(clientMessageID string) bool { return v.client.Withdraw(clientMessageID) }

// Updates joins what happens in the session with what happens to the connection.
func (v *view) Updates(ctx context.Context) iter.Seq[remote.Update] {
	return func(yield func(remote.Update) bool) {
		ctx, cancel := context.WithCancel(ctx)
		updates := make(chan remote.Update)
		broke := make(chan error, 2)
		var sources sync.WaitGroup
		source := func(work func(context.Context, chan<- remote.Update)) {
			sources.Go(func() {
				if err := panics.Call(func() { work(ctx, updates) }); err != nil {
					broke <- err
				}
			})
		}
		source(v.links)
		source(func(ctx context.Context, updates chan<- remote.Update) {
			v.events(ctx, updates)
			cancel()
		})
		defer sources.Wait()
		defer cancel()
		for {
			select {
			case u := <-updates:
				if !yield(u) {
					return
				}
			case err := <-broke:
				panic(err)
			case <-ctx.Done():
				return
			}
		}
	}
}

// put hands an update on, unless ctx has ended.
func put(ctx context.Context, updates chan<- remote.Update, u remote.Update) bool {
	select {
	case updates <- u:
		return true
	case <-ctx.Done():
		return false
	}
}

func (v *view) links(ctx context.Context, updates chan<- remote.Update) {
	for s := range v.client.States(ctx) {
		sound(s.Err)
		if !put(ctx, updates, remote.Update{Conn: linkOf(v.client, s)}) {
			return
		}
	}
}

// sound panics with a panic of the client's, so that the screen ends as with one of its own.
func sound(err error) {
	if broken := panics.As(err); broken != nil {
		panic(broken)
	}
}

// linkOf is the state of a connection as the screen shows it.
func linkOf(c *wsclient.Client, s wsclient.ConnState) *remote.Conn {
	hello := c.Hello()
	l := &remote.Conn{Attempt: s.Attempt, Retry: s.RetryAt, Connection: hello.Connection, By: hello.By}
	if s.Err != nil {
		l.Reason = s.Err.Error()
		if ours := ownServer(s.Err); ours || s.Phase == wsclient.PhaseOffline || s.Phase == wsclient.PhaseClosed {
			l.Advice = faultOf(s.Err).hint
		}
	}
	switch s.Phase {
	case wsclient.PhaseOpen:
		l.State = remote.Connected
	case wsclient.PhaseConnecting:
		l.State = remote.Connecting
	case wsclient.PhaseReconnecting:
		l.State = remote.Reconnecting
	case wsclient.PhaseOffline, wsclient.PhaseClosed:
		l.State = remote.Offline
	}
	return l
}

// ownServer tells that the server which cannot be reached is one of this machine, and of this kind: whoever is to start it sits here.
func ownServer(err error) bool {
	var failed *wsclient.ConnectError
	if !errors.As(err, &failed) {
		return false
	}
	if strings.HasPrefix(failed.URL, "unix:") {
		return true
	}
	u, err := url.Parse(failed.URL)
	if err != nil || u.Path != protocol.Path {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// events ends when the session cannot be followed any more, which it tells last. A server that refuses the connection may be asked
// again: then it goes on.
func (v *view) events(ctx context.Context, updates chan<- remote.Update) {
	sub := v.client.Subscribe(v.session, wsclient.SubscribeOptions{})
	defer sub.Close()
	for {
		err := v.follow(ctx, sub, updates)
		sound(err)
		switch {
		case err == nil:
			return
		case refusedNow(err):
			if !opened(ctx, v.client) {
				return
			}
		default:
			put(ctx, updates, remote.Update{Conn: &remote.Conn{State: remote.Offline, Reason: reasonOf(err), Advice: faultOf(err).hint}})
			return
		}
	}
}

// follow hands on what the subscription yields. It returns nil when nobody wants more.
func (v *view) follow(ctx context.Context, sub *wsclient.Subscription, updates chan<- remote.Update) error {
	for item, err := range sub.Events(ctx) {
		if err != nil {
			return err
		}
		if !put(ctx, updates, remote.Update{Attached: item.Attached, Event: item.Event}) {
			return nil
		}
	}
	return nil
}

// refusedNow tells that the server refuses the connection, which somebody may ask for again.
func refusedNow(err error) bool {
	var refused *wsclient.ConnectError
	return errors.As(err, &refused) && !errors.Is(err, wsclient.ErrClosed)
}

// opened waits until the connection is open; false when that will not be.
func opened(ctx context.Context, c *wsclient.Client) bool {
	for s := range c.States(ctx) {
		switch s.Phase {
		case wsclient.PhaseOpen:
			return true
		case wsclient.PhaseClosed:
			return false
		}
	}
	return false
}

// reasonOf is an error in words, without what led to it when the server said it.
func reasonOf(err error) string {
	var coded *protocol.Error
	if errors.As(err, &coded) {
		return coded.Message
	}
	return err.Error()
}
