package acp

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"agentctl/server/agent"
	"agentctl/server/agent/acp/remote"
	"agentctl/server/agent/process"
)

// program is the agent behind a connection. *process.Process is one.
type program interface {
	// Done returns a channel that is closed when the program has ended.
	Done() <-chan struct{}
	// Err returns how the program ended. It is valid after Done is closed.
	Err() error
	// End stops the program and waits for its exit. Its output can still be read.
	End(grace time.Duration)
	// Release closes the output. No read may follow.
	Release()
	// StderrTail returns the end of standard error.
	StderrTail() string
}

// connection is a program with its input and output.
type connection struct {
	program
	in    io.Writer
	out   io.Reader
	ended func() error // records the end of the program
}

// dialRemote connects to the agent at the address of the configuration.
func (a *Agent) dialRemote(ctx context.Context, env []string) (io.ReadWriteCloser, error) {
	x := expansion{lookup: lookupIn(env)}
	address := remote.Address{URL: a.config.Remote.URL, Headers: http.Header{}}
	for name, values := range a.config.Remote.Headers {
		for _, value := range values {
			address.Headers.Add(name, x.expand(value))
		}
	}
	if x.err != nil {
		return nil, x.err
	}
	return remote.Dial(ctx, address)
}

// open starts the program, or connects to it if the configuration has an address or a Dial function.
func (a *Agent) open(ctx context.Context, env []string) (*connection, error) {
	if a.config.Dial != nil || a.config.Remote != nil {
		dial := a.config.Dial
		if dial == nil {
			dial = func(ctx context.Context) (io.ReadWriteCloser, error) { return a.dialRemote(ctx, env) }
		}
		conn, err := dial(ctx)
		if err != nil {
			return nil, a.startError(err)
		}
		far := &dialed{conn: conn, done: make(chan struct{})}
		return &connection{far, conn, conn, func() error { return nil }}, nil
	}
	proc, err := a.spec.Box.Start(process.Command{
		Args: a.config.Command, Dir: a.spec.CWD, Env: env, Session: a.spec.Session,
		Record: agent.RecordGroup(a.host, false),
	})
	if err != nil {
		return nil, a.startError(err)
	}
	ended := func() error { return agent.RecordGroup(a.host, true)(proc.Group()) }
	return &connection{proc, proc.Stdin, proc.Stdout, ended}, nil
}

// dialed is an agent that runs elsewhere. For this server it ends when the connection is closed.
type dialed struct {
	conn io.Closer
	once sync.Once
	done chan struct{}
}

func (d *dialed) Done() <-chan struct{} { return d.done }
func (d *dialed) Err() error            { return nil }
func (d *dialed) Release()              {}
func (d *dialed) StderrTail() string    { return "" }

// End closes the connection.
func (d *dialed) End(time.Duration) {
	d.once.Do(func() {
		_ = d.conn.Close()
		close(d.done)
	})
}
