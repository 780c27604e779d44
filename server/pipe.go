package server

import (
	"context"
	"net"
	"sync"
)

// A Pipe is a listener in memory. Its Dial method fits wsclient.Options.Dial.
type Pipe struct {
	*Listener
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// NewPipe returns a listener in memory, without access rules.
func NewPipe() *Pipe {
	p := &Pipe{conns: make(chan net.Conn), done: make(chan struct{})}
	p.Listener = &Listener{Listener: pipeListener{p}, owner: true}
	return p
}

// Dial connects to the server of the pipe. It blocks until the server accepts.
func (p *Pipe) Dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type pipeListener struct{ p *Pipe }

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.p.conns:
		return c, nil
	case <-l.p.done:
		return nil, net.ErrClosed
	}
}

func (l pipeListener) Close() error {
	l.p.once.Do(func() { close(l.p.done) })
	return nil
}

func (l pipeListener) Addr() net.Addr { return &net.UnixAddr{Net: "pipe", Name: "pipe"} }
