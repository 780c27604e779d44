package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"agentctl/dialect"
	"agentctl/internal/config"
	"agentctl/internal/credentials"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/internal/ssh"
	"agentctl/protocol"
	"agentctl/server/agent/process"
	"agentctl/wsclient"
)

// maxReconnects bounds the attempts in a row to get a lost connection back: more than a minute.
const maxReconnects = 15

// errConnectionLost ends a verb that cannot get its connection back.
var errConnectionLost = exit.Unreachablef("the connection is lost")

// A connection is the connection of a verb to its server.
type connection struct {
	*wsclient.Client
	ctx    context.Context // ends when the client gives up; the cause says why
	local  bool            // client and server have the same file system
	own    bool            // the server of this user's data directory
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when watch has returned
}

// A reconnectPolicy says how long a verb tries to get a lost connection back.
type reconnectPolicy int

const (
	oneShot   reconnectPolicy = iota // maxReconnects attempts; the verb sends one or two commands
	bounded                          // maxReconnects attempts
	unbounded                        // until the verb ends
)

// connect connects to the server named by flags, environment or configuration, else to the local
// server, which is started if necessary.
func (a *app) connect(ctx context.Context) (*connection, error) { return a.connectWith(ctx, oneShot) }

func (a *app) connectWith(ctx context.Context, p reconnectPolicy) (*connection, error) {
	if a.userConfigErr != nil {
		return nil, a.userConfigErr
	}
	if a.flags.Dialect != "" && a.flags.Server == "" {
		return nil, exit.Usagef("--dialect %s needs --server", a.flags.Dialect)
	}
	o := wsclient.Options{
		Token: a.flags.Token, Name: a.userName(), UserAgent: "agentctl " + programVersion(), NoRetryFirst: true,
		Dialect: a.flags.Dialect, OneShot: p == oneShot,
	}
	var err error
	if o.DialectOptions, err = a.dialectOptions(); err != nil {
		return nil, err
	}
	// 0: the dialect has no limit of its own
	if d, _ := dialect.Find(o.Dialect); p != unbounded && d.Retry.Attempts == 0 {
		o.MaxAttempts = maxReconnects
	}
	dir, err := a.dataDir()
	if a.flags.Server == "" {
		if err != nil {
			return nil, err
		}
		return a.connectLocal(ctx, dir, o)
	}
	url := a.flags.Server
	if err := config.CheckServerURL(url); err != nil {
		return nil, err
	}
	if strings.HasPrefix(url, ssh.Scheme) {
		return a.connectSSH(ctx, url, o)
	}
	agent := a.env(process.SessionVariable) != "" // it has no credential of the user
	if o.Token == "" && err == nil && !agent {
		o.Token = credentials.NewStore(dir).TokenFor(url)
	}
	local := strings.HasPrefix(url, "unix:")
	own := err == nil && url == dir.SocketURL()
	if token := dir.TokenFor(url); err == nil && token != "" { // a server on this user's data directory
		local, own = true, true
		if o.Token == "" && !agent {
			o.Token = token
		}
	}
	var c *connection
	err = a.connectTrusted(ctx, dir, url, func(trust *tls.Config) (err error) {
		o.TLS = trust
		c, err = a.dial(ctx, url, local, o)
		return err
	})
	if err != nil {
		if c != nil {
			c.Close()
		}
		return nil, err
	}
	c.own = own
	return c, nil
}

// connectLocal connects to the local server. It tries again if the server ends meanwhile.
func (a *app) connectLocal(ctx context.Context, dir localserver.Dir, o wsclient.Options) (*connection, error) {
	deadline := time.Now().Add(localserver.StartTimeout)
	for {
		if err := dir.EnsureRunning(ctx, !a.flags.NoStart); err != nil {
			return nil, a.withStartHint(storeError(err))
		}
		c, err := a.dial(ctx, dir.SocketURL(), true, o)
		if err == nil {
			c.own = true
		}
		var refused *wsclient.ConnectError
		if err == nil || a.flags.NoStart || errors.As(err, &refused) && refused.Refused() ||
			time.Now().After(deadline) {
			return c, err
		}
		select {
		case <-time.After(localserver.PollInterval):
		case <-ctx.Done():
			return nil, err
		}
	}
}

func (a *app) dial(ctx context.Context, url string, local bool, o wsclient.Options) (*connection, error) {
	if a.wire != nil {
		a.wire.Hide(append(a.secretValues(), o.Token)...)
		o.OnFrame = a.wire.Record
	}
	client := wsclient.New(url, o)
	a.client = client
	if err := client.Connect(ctx); err != nil {
		_ = client.Close() // never fails
		if errors.Is(err, wsclient.ErrEphemeral) {
			err = a.needsAttach()
		}
		return nil, err
	}
	return newConnection(ctx, client, local), nil
}

// needsAttach returns the error of a verb whose sessions end with its connection.
func (a *app) needsAttach() error {
	return exit.Unsupportedf(
		"%s needs a client that stays attached: over the dialect %s, %w", a.verb, a.flags.Dialect,
		wsclient.ErrEphemeral,
	).WithHint("run instead: agentctl attach %[1]s; or agentctl send %[1]s TEXT, which waits for the answer", a.session)
}

// userName returns the name of the user for the server: --as, else the name on this machine.
func (a *app) userName() string {
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

func newConnection(ctx context.Context, client *wsclient.Client, local bool) *connection {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &connection{Client: client, ctx: ctx, local: local, cancel: cancel, done: make(chan struct{})}
	go c.watch()
	return c
}

// watch ends c.ctx when the client gives up.
func (c *connection) watch() {
	defer close(c.done)
	for s := range c.States(c.ctx) {
		if s.Phase == wsclient.PhaseOffline {
			if s.Err == nil {
				s.Err = errConnectionLost
			}
			c.cancel(s.Err)
			return
		}
	}
}

// Close closes the connection and waits for its goroutines.
func (c *connection) Close() {
	c.cancel(context.Canceled)
	_ = c.Client.Close() // never fails
	<-c.done
}

// cause returns the cause of the end of c.ctx in place of err. Errors of the protocol stay.
func (c *connection) cause(err error) error {
	var coded *protocol.Error
	if err == nil || errors.As(err, &coded) {
		return err
	}
	if cause := context.Cause(c.ctx); cause != nil {
		return cause
	}
	return err
}

// snapshot returns the current state of a session. The state is never nil.
func (c *connection) snapshot(session string) (*protocol.SnapshotResult, error) {
	r, err := call[protocol.SnapshotResult](c, protocol.DoSnapshot, session, nil)
	if err != nil {
		return nil, err
	}
	if r.Snapshot.State == nil {
		return nil, fmt.Errorf("snapshot of %s: the server sent no state", session)
	}
	return &r, nil
}

// snapshot connects, returns the state of a session and closes the connection.
func (a *app) snapshot(ctx context.Context, session string) (*protocol.SnapshotResult, error) {
	c, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.snapshot(session)
}

// call sends a command and returns its result.
func call[R any](c *connection, verb protocol.Verb, session string, data any) (R, error) {
	r, err := wsclient.Call[R](c.ctx, c.Client, verb, session, data)
	return r, c.cause(err)
}

// callOnce connects, sends one command and disconnects.
func callOnce[R any](ctx context.Context, a *app, verb protocol.Verb, session string, data any) (R, error) {
	c, err := a.connect(ctx)
	if err != nil {
		var none R
		return none, err
	}
	defer c.Close()
	return call[R](c, verb, session, data)
}

// callWithKey is call with an idempotency key; if it is empty, the client makes one.
func callWithKey[R any](c *connection, verb protocol.Verb, session, key string, data any) (R, error) {
	var r R
	body, err := protocol.Encode(data)
	if err != nil {
		return r, fmt.Errorf("%s: %w", verb, err)
	}
	err = c.Do(c.ctx, protocol.Command{Command: verb, Session: session, Key: key, Data: body}, &r)
	return r, c.cause(err)
}
