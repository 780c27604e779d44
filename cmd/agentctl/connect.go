package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/tui/protolog"
	"agentctl/wsclient"
)

// retries is how often in a row a verb that is not to run for ever tries to get its connection back: over a minute.
const retries = 15

// errGone ends a verb whose connection did not come back.
var errGone = unreachablef("the connection is lost")

// A link is a verb's connection to its server. Its context ends when the connection is given up.
type link struct {
	*wsclient.Client
	ctx    context.Context
	local  bool          // the server is this machine's own: paths mean the same to both
	wire   *protolog.Log // nil unless somebody looks
	cancel context.CancelCauseFunc
	done   chan struct{}
}

// patience says what a verb does when a connection that was open is lost.
type patience int

const (
	brief   patience = iota // it gives up after retries, and is over after a command or two
	giveUp                  // after retries
	forEver                 // never: until killed
)

// connect connects to the server that flags and environment name: else to the local one, started when none runs.
func (a *app) connect(ctx context.Context) (*link, error) { return a.connectWith(ctx, brief) }

func (a *app) connectWith(ctx context.Context, p patience) (*link, error) {
	if a.personalErr != nil {
		return nil, a.personalErr
	}
	if a.flags.Dialect != "" && a.flags.Server == "" {
		return nil, usagef("--dialect %s is about a server that --server names", a.flags.Dialect)
	}
	o := wsclient.Options{
		Token: a.flags.Token, Name: a.actor(), UserAgent: "agentctl " + programVersion(), NoRetryFirst: true, Dialect: a.flags.Dialect,
		OneShot: p == brief,
	}
	var err error
	if o.DialectOptions, err = a.dialectOptions(); err != nil {
		return nil, err
	}
	if d, _ := dialect.Find(o.Dialect); p != forEver && d.Retry.Attempts == 0 { // else the dialect says it
		o.MaxAttempts = retries
	}
	dir, err := a.dataDir()
	if a.flags.Server == "" {
		if err != nil {
			return nil, err
		}
		return a.connectLocal(ctx, dir, o)
	}
	url := a.flags.Server
	if err := checkURL(url); err != nil {
		return nil, err
	}
	if o.Token == "" && err == nil {
		o.Token = dir.loginFor(url)
	}
	local := strings.HasPrefix(url, "unix:")
	if token := dir.tokenFor(url); err == nil && token != "" { // it is this user's own server
		local = true
		if o.Token == "" {
			o.Token = token
		}
	}
	return a.dial(ctx, url, local, o)
}

// connectLocal connects to the local server, started when none runs. One that is about to end is waited for.
func (a *app) connectLocal(ctx context.Context, dir dataDir, o wsclient.Options) (*link, error) {
	until := time.Now().Add(startPatience)
	for {
		if err := a.ensureLocal(ctx, dir); err != nil {
			return nil, err
		}
		l, err := a.dial(ctx, dir.socketURL(), true, o)
		var refused *wsclient.ConnectError
		if err == nil || a.flags.NoStart || errors.As(err, &refused) && refused.Refused() || time.Now().After(until) {
			return l, err
		}
		select {
		case <-time.After(startPoll):
		case <-ctx.Done():
			return nil, err
		}
	}
}

func (a *app) dial(ctx context.Context, url string, local bool, o wsclient.Options) (*link, error) {
	var wire *protolog.Log
	if a.looks {
		wire = protolog.NewLog(o.Token)
		o.OnFrame = tapInto(wire)
	}
	c := wsclient.New(url, o)
	if err := c.Connect(ctx); err != nil {
		_ = c.Close() // never fails
		return nil, err
	}
	l := newLink(ctx, c, local)
	l.wire = wire
	return l, nil
}

func checkURL(url string) error {
	for _, scheme := range []string{"ws://", "wss://", "http://", "https://", "unix:"} {
		if strings.HasPrefix(url, scheme) {
			return nil
		}
	}
	return usagef("--server is ws://HOST:PORT, wss://HOST:PORT or unix:///PATH, not %q", url)
}

// actor is who the server is told that this is: --as, else the user of this machine.
func (a *app) actor() string {
	if a.flags.As != "" {
		return a.flags.As
	}
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if v := a.env(name); v != "" {
			return v
		}
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}

func newLink(ctx context.Context, c *wsclient.Client, local bool) *link {
	ctx, cancel := context.WithCancelCause(ctx)
	l := &link{Client: c, ctx: ctx, local: local, cancel: cancel, done: make(chan struct{})}
	go l.watch()
	return l
}

// watch ends the link's context when the client stops trying.
func (l *link) watch() {
	defer close(l.done)
	for s := range l.States(l.ctx) {
		if s.Phase == wsclient.PhaseOffline {
			if s.Err == nil {
				s.Err = errGone
			}
			l.cancel(s.Err)
			return
		}
	}
}

// Close ends the connection and waits for its goroutines.
func (l *link) Close() {
	l.cancel(context.Canceled)
	_ = l.Client.Close() // never fails
	<-l.done
}

// reason replaces the end of the link's context by why it ended.
func (l *link) reason(err error) error {
	var coded *protocol.Error
	if err == nil || errors.As(err, &coded) {
		return err
	}
	if cause := context.Cause(l.ctx); cause != nil {
		return cause
	}
	return err
}

// ask does a command and returns its result.
func ask[R any](l *link, verb protocol.Verb, session string, data any) (R, error) {
	r, err := wsclient.Call[R](l.ctx, l.Client, verb, session, data)
	return r, l.reason(err)
}

// once connects, asks one thing and disconnects.
func once[R any](ctx context.Context, a *app, verb protocol.Verb, session string, data any) (R, error) {
	l, err := a.connect(ctx)
	if err != nil {
		var none R
		return none, err
	}
	defer l.Close()
	return ask[R](l, verb, session, data)
}

// askWithKey is ask for a command whose key the user chose; empty: the client makes one.
func askWithKey[R any](l *link, verb protocol.Verb, session, key string, data any) (R, error) {
	var r R
	body, err := protocol.Encode(data)
	if err != nil {
		return r, fmt.Errorf("%s: %w", verb, err)
	}
	err = l.Do(l.ctx, protocol.Command{Command: verb, Session: session, Key: key, Data: body}, &r)
	return r, l.reason(err)
}
