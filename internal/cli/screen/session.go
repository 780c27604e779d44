package screen

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"agentctl/internal/cli/connection"
	"agentctl/internal/exit"
	"agentctl/internal/panics"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/wsclient"
)

// A Session is a session of a server for the TUI. Its methods may be called from any
// goroutine.
type Session struct {
	Client  *wsclient.Client
	Session string
}

var (
	_ remote.Resumer    = (*Session)(nil)
	_ remote.Retrier    = (*Session)(nil)
	_ remote.Withdrawer = (*Session)(nil)
)

// Retry connects immediately.
func (s *Session) Retry() { s.Client.Retry() }

// Do sends a command. After a lost connection it is sent again with the same key.
func (s *Session) Do(ctx context.Context, verb protocol.Verb, data, result any) error {
	body, err := protocol.Encode(dataFor(s.Client.Hello().Limits, data))
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	cmd := protocol.Command{Command: verb, Session: s.Session, Data: body}
	if send, ok := data.(protocol.SendData); ok {
		cmd.Key = send.ClientMessageID // for Withdraw
	}
	err = s.Client.Do(ctx, cmd, result)
	if errors.Is(err, wsclient.ErrWithdrawn) {
		return remote.ErrWithdrawn
	}
	return err
}

// dataFor returns the data of a command without what a server with these limits would refuse.
func dataFor(limits protocol.Limits, data any) any {
	if d, ok := data.(protocol.HistoryData); ok {
		d.Bytes = min(d.Bytes, limits.HistoryBytes)
		return d
	}
	return data
}

// Withdraw cancels a message that was not sent to the server yet, and reports whether it did.
func (s *Session) Withdraw(clientMessageID string) bool {
	return s.Client.Withdraw(clientMessageID)
}

// Updates yields the events of the session and the states of the connection until the session ends.
// It panics with the panics of the client.
func (s *Session) Updates(ctx context.Context) iter.Seq[remote.Update] {
	return s.updates(ctx, wsclient.SubscribeOptions{})
}

// Resumes reports whether the server speaks the native protocol. A dialect may start again.
func (s *Session) Resumes() bool { return s.Client.Dialect() == "" }

// UpdatesSince is Updates for a reader that has the events up to a position.
func (s *Session) UpdatesSince(ctx context.Context, since protocol.Position) iter.Seq[remote.Update] {
	return s.updates(ctx, wsclient.SubscribeOptions{Since: &since})
}

// remoteFold is the interval in which another machine's server joins deltas for the screen. 500
// words a second then cost less than 6 KB a second; an event for each word costs 66 KB.
const remoteFold = 100 * time.Millisecond

// updates yields the updates of a new subscription with options.
func (s *Session) updates(ctx context.Context, o wsclient.SubscribeOptions) iter.Seq[remote.Update] {
	if s.Client.Remote() {
		o.Fold = remoteFold
	}
	return func(yield func(remote.Update) bool) {
		ctx, cancel := context.WithCancel(ctx)
		updates := make(chan remote.Update)
		panicked := make(chan error, 2)
		var sources sync.WaitGroup
		start := func(source func(context.Context, chan<- remote.Update)) {
			sources.Go(func() {
				if err := panics.Call(func() { source(ctx, updates) }); err != nil {
					panicked <- err
				}
			})
		}
		start(s.sendStates)
		start(func(ctx context.Context, updates chan<- remote.Update) {
			s.sendEvents(ctx, o, updates)
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
			case err := <-panicked:
				panic(err)
			case <-ctx.Done():
				return
			}
		}
	}
}

// send sends an update and reports false if ctx has ended first.
func send(ctx context.Context, updates chan<- remote.Update, u remote.Update) bool {
	select {
	case updates <- u:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Session) sendStates(ctx context.Context, updates chan<- remote.Update) {
	for conn := range (Server{Client: s.Client}).Conns(ctx) {
		if !send(ctx, updates, remote.Update{Conn: &conn}) {
			return
		}
	}
}

// rethrow panics with a panic of the client's goroutines, so that the TUI restores the terminal as
// after its own.
func rethrow(err error) {
	if caught := panics.As(err); caught != nil {
		panic(caught)
	}
}

// linkState returns the state of a connection for the TUI.
func linkState(c *wsclient.Client, s wsclient.ConnState) *remote.Conn {
	hello := c.Hello()
	l := &remote.Conn{Attempt: s.Attempt, Retry: s.RetryAt, Connection: hello.Connection, By: hello.By}
	if s.Err != nil {
		l.Reason = s.Err.Error()
		if isLocalServer(s.Err) || s.Phase == wsclient.PhaseOffline || s.Phase == wsclient.PhaseClosed {
			l.Advice = exit.From(s.Err).At(connection.Peer(c)).Hint
		}
	}
	switch s.Phase {
	case wsclient.PhaseOpen:
		l.State = remote.Connected
	case wsclient.PhaseConnecting:
		l.State = remote.Connecting
	case wsclient.PhaseClosing:
		l.State = remote.Closing
	case wsclient.PhaseReconnecting:
		l.State = remote.Reconnecting
	case wsclient.PhaseOffline, wsclient.PhaseClosed:
		l.State = remote.Offline
	}
	return l
}

// isLocalServer reports whether the server that err is about is agentctl on this machine: the user
// can start it.
func isLocalServer(err error) bool {
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

// sendEvents sends the events of the session until it ends; the last update has the reason. If the
// server refuses the connection, it continues once the connection is open again.
func (s *Session) sendEvents(
	ctx context.Context, o wsclient.SubscribeOptions, updates chan<- remote.Update,
) {
	sub := s.Client.Subscribe(s.Session, o)
	defer sub.Close()
	for {
		err := s.forward(ctx, sub, updates)
		rethrow(err)
		switch {
		case err == nil:
			return
		case isRefused(err):
			if !waitOpen(ctx, s.Client) {
				return
			}
		default:
			advice := exit.From(err).At(connection.Peer(s.Client)).Hint
			end := &remote.Conn{State: remote.Offline, Reason: errorText(err), Advice: advice}
			send(ctx, updates, remote.Update{Conn: end})
			return
		}
	}
}

// forward sends the items of a subscription until it fails. It returns nil when ctx has ended.
func (s *Session) forward(ctx context.Context, sub *wsclient.Subscription, updates chan<- remote.Update) error {
	for item, err := range sub.Events(ctx) {
		if err != nil {
			return err
		}
		if !send(ctx, updates, remote.Update{Attached: item.Attached, Event: item.Event}) {
			return nil
		}
	}
	return nil
}

// isRefused reports whether the server refused the connection. Retry may open it again.
func isRefused(err error) bool {
	var refused *wsclient.ConnectError
	return errors.As(err, &refused) && !errors.Is(err, wsclient.ErrClosed)
}

// waitOpen waits until the connection is open. It returns false if the client is closed first.
func waitOpen(ctx context.Context, c *wsclient.Client) bool {
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

// errorText returns the text of an error; of an error of the server only the server's message.
func errorText(err error) string {
	var coded *protocol.Error
	if errors.As(err, &coded) {
		return coded.Message
	}
	return err.Error()
}
