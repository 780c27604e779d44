package connection

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"agentctl/dialect"
	"agentctl/internal/cli/localagent"
	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/internal/credentials"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/internal/ssh"
	"agentctl/protocol"
	"agentctl/server/agent/process"
	"agentctl/wsclient"
	"agentctl/wsclient/wirelog"
)

// maxReconnects bounds the attempts in a row to get a lost connection back: more than a minute.
const maxReconnects = 15

// errConnectionLost ends a verb that cannot get its connection back.
var errConnectionLost = exit.Unreachablef("the connection is lost")

// A Conn is the connection of a verb to its server.
type Conn struct {
	*wsclient.Client
	ctx    context.Context // ends when the client stops retrying; the cause is the reason
	Local  bool            // client and server have the same file system
	Own    bool            // the server of this user's data directory
	cancel context.CancelCauseFunc
	Done   chan struct{} // closed when watch has returned
}

// A reconnectPolicy says how long a verb tries to get a lost connection back.
type reconnectPolicy int

// The policies of verbs.
const (
	OneShot   reconnectPolicy = iota // maxReconnects attempts; the verb sends one or two commands
	Bounded                          // maxReconnects attempts
	Unbounded                        // until the verb ends
)

// Open opens a connection with the policy OneShot.
func Open(ctx context.Context, cli *verb.Context) (*Conn, error) { return OpenWith(ctx, cli, OneShot) }

// OpenWith is Open with another policy for lost connections.
func OpenWith(ctx context.Context, cli *verb.Context, p reconnectPolicy) (*Conn, error) {
	return (&Dialer{CLI: cli, Policy: p}).Open(ctx)
}

// A Dialer opens the connection of a verb.
type Dialer struct {
	CLI       *verb.Context
	Policy    reconnectPolicy
	Wire      *wirelog.Log                // of the messages of the connection; nil: none
	OnProcess func(protocol.AgentProcess) // of wsclient.Options
}

// Open connects to the server named by flags, environment or configuration, else to the local
// server, which is started if necessary.
func (d *Dialer) Open(ctx context.Context) (*Conn, error) {
	cli, p := d.CLI, d.Policy
	if cli.UserErr != nil {
		return nil, cli.UserErr
	}
	if cli.Flags.Dialect != "" && cli.Flags.Server == "" {
		return nil, exit.Usagef("--dialect %s needs --server", cli.Flags.Dialect)
	}
	o := wsclient.Options{
		Token: cli.Flags.Token, Name: cli.Flags.UserName(cli.Env), UserAgent: cli.Build.UserAgent(), NoRetryFirst: true,
		Dialect: cli.Flags.Dialect, OneShot: p == OneShot, OnProcess: d.OnProcess,
	}
	var err error
	if o.DialectOptions, err = cli.Flags.DialectOptions(); err != nil {
		return nil, err
	}
	// 0: the dialect has no limit
	if found, _ := dialect.Find(o.Dialect); p != Unbounded && found.Retry.Attempts == 0 {
		o.MaxAttempts = maxReconnects
	}
	dir, err := cli.DataDir()
	if cli.Flags.Server == "" {
		if err != nil {
			return nil, err
		}
		return d.connectLocal(ctx, dir, o)
	}
	url := cli.Flags.Server
	if err := config.CheckServerURL(url); err != nil {
		return nil, err
	}
	if strings.HasPrefix(url, ssh.Scheme) {
		return d.connectSSH(ctx, url, o)
	}
	agent := cli.Env(process.SessionVariable) != "" // it has no credential of the user
	if o.Token == "" && err == nil && !agent {
		o.Token = credentials.NewStore(dir).TokenFor(url)
	}
	local := strings.HasPrefix(url, "unix:")
	own := err == nil && url == dir.SocketURL()
	if token := dir.Addresses().Token(url); err == nil && token != "" { // a server on this user's data directory
		local, own = true, true
		if o.Token == "" && !agent {
			o.Token = token
		}
	}
	var c *Conn
	err = ConnectTrusted(ctx, cli, dir, url, func(trust *tls.Config) (err error) {
		o.TLS = trust
		c, err = d.dial(ctx, url, local, o)
		return err
	})
	if err != nil {
		if c != nil {
			c.Close()
		}
		return nil, err
	}
	c.Own = own
	return c, nil
}

// connectLocal connects to the local server. It tries again if the server exits before it answers.
func (d *Dialer) connectLocal(ctx context.Context, dir localserver.Dir, o wsclient.Options) (*Conn, error) {
	cli := d.CLI
	deadline := time.Now().Add(localserver.StartTimeout)
	for {
		if err := dir.EnsureRunning(ctx, !cli.Flags.NoStart); err != nil {
			return nil, withStartHint(cli.Flags.OnlyReads, localserver.DiskError(err))
		}
		c, err := d.dial(ctx, dir.SocketURL(), true, o)
		if err == nil {
			c.Own = true
		}
		var refused *wsclient.ConnectError
		if err == nil || cli.Flags.NoStart || errors.As(err, &refused) && refused.Refused() ||
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

func (d *Dialer) dial(ctx context.Context, url string, local bool, o wsclient.Options) (*Conn, error) {
	if d.Wire != nil {
		d.Wire.Hide(append(localagent.Of(d.CLI).SecretValues(), o.Token)...)
		o.OnFrame = d.Wire.Record
	}
	client := wsclient.New(url, o)
	d.CLI.LastPeer = func() exit.Peer { return Peer(client) }
	if err := client.Connect(ctx); err != nil {
		_ = client.Close() // never fails
		if errors.Is(err, wsclient.ErrEphemeral) {
			err = needsAttach(d.CLI.Call, d.CLI.Flags.Dialect)
		}
		return nil, err
	}
	return New(ctx, client, local), nil
}

// needsAttach returns the error of a verb whose sessions end with its connection.
func needsAttach(call verb.Invocation, dialect string) error {
	return exit.Unsupportedf(
		"%s needs a client that stays attached: over the dialect %s, %w", call.Verb, dialect,
		wsclient.ErrEphemeral,
	).WithHint("run instead: agentctl attach %[1]s; or agentctl send %[1]s TEXT, which waits for the answer", call.Session)
}

// New returns the connection of a client. local reports whether client and server have the same file
// system. Close ends it.
func New(ctx context.Context, client *wsclient.Client, local bool) *Conn {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &Conn{Client: client, ctx: ctx, Local: local, cancel: cancel, Done: make(chan struct{})}
	go c.watch()
	return c
}

// watch ends c.ctx when the client stops retrying.
func (c *Conn) watch() {
	defer close(c.Done)
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

// Context returns a context that ends when the client stops; its cause says why.
func (c *Conn) Context() context.Context { return c.ctx }

// Abort ends the context of the connection.
func (c *Conn) Abort(cause error) { c.cancel(cause) }

// Close closes the connection and waits for its goroutines.
func (c *Conn) Close() {
	c.cancel(context.Canceled)
	_ = c.Client.Close() // never fails
	<-c.Done
}

// Cause returns the cause of the end of c.ctx in place of err. Errors of the protocol stay.
func (c *Conn) Cause(err error) error {
	var coded *protocol.Error
	if err == nil || errors.As(err, &coded) {
		return err
	}
	if cause := context.Cause(c.ctx); cause != nil {
		return cause
	}
	return err
}

// Snapshot returns the current state of a session. The state is never nil.
func (c *Conn) Snapshot(session string) (*protocol.SnapshotResult, error) {
	r, err := Call[protocol.SnapshotResult](c, protocol.DoSnapshot, session, nil)
	if err != nil {
		return nil, err
	}
	if r.Snapshot.State == nil {
		return nil, fmt.Errorf("snapshot of %s: the server sent no state", session)
	}
	return &r, nil
}

// Snapshot connects, returns the state of a session and closes the connection.
func Snapshot(ctx context.Context, cli *verb.Context, session string) (*protocol.SnapshotResult, error) {
	c, err := Open(ctx, cli)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Snapshot(session)
}

// Call sends a command and returns its result.
func Call[R any](c *Conn, verb protocol.Verb, session string, data any) (R, error) {
	r, err := wsclient.Call[R](c.ctx, c.Client, verb, session, data)
	return r, c.Cause(err)
}

// CallOnce connects, sends one command and disconnects.
func CallOnce[R any](ctx context.Context, cli *verb.Context, verb protocol.Verb, session string, data any) (R, error) {
	c, err := Open(ctx, cli)
	if err != nil {
		var none R
		return none, err
	}
	defer c.Close()
	return Call[R](c, verb, session, data)
}

// CallWithKey is call with an idempotency key; if it is empty, the client makes one.
func CallWithKey[R any](c *Conn, verb protocol.Verb, session, key string, data any) (R, error) {
	var r R
	body, err := protocol.Encode(data)
	if err != nil {
		return r, fmt.Errorf("%s: %w", verb, err)
	}
	err = c.Do(c.ctx, protocol.Command{Command: verb, Session: session, Key: key, Data: body}, &r)
	return r, c.Cause(err)
}

// withStartHint says how to start a server to a verb that starts none.
func withStartHint(onlyReads bool, err error) error {
	if !onlyReads || exit.From(err).Status != exit.Unreachable {
		return err
	}
	return exit.From(err).WithHint("stored sessions are kept; agentctl attach, new and send start a server, " +
		"or pass --no-start=false")
}

// NamedOptions returns the options of a client of a named server. Its certificate must be known
// already, or be one that the system trusts.
func NamedOptions(cli *verb.Context, s config.NamedServer) wsclient.Options {
	o := wsclient.Options{Name: cli.Flags.UserName(cli.Env), UserAgent: cli.Build.UserAgent()}
	if strings.HasPrefix(s.URL, ssh.Scheme) {
		o.Dial = func(ctx context.Context) (net.Conn, error) {
			d, err := SSHDialer(cli, s)
			if err != nil {
				return nil, err
			}
			return d.Dial(ctx, false)
		}
		return o
	}
	if dir, err := cli.DataDir(); err == nil {
		o.Token = credentials.NewStore(dir).TokenFor(s.URL)
		o.TLS = knownTrust(dir, s.URL)
	}
	return o
}

// Peer returns what a client knows of its server, for hints.
func Peer(c *wsclient.Client) exit.Peer {
	return exit.Peer{Dialect: c.Dialect(), Commands: c.Hello().Commands, Role: c.Hello().Role, Ephemeral: c.Ephemeral()}
}
