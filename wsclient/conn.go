package wsclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	"agentctl/internal/panics"
	"agentctl/protocol"
)

// Time limits of a connection.
const (
	openTimeout  = 10 * time.Second // from dialing to the answer to hello
	writeTimeout = 10 * time.Second // for one message
	closeTimeout = 500 * time.Millisecond
)

// A conn is one open connection. It owns one goroutine that reads and decodes, and one that writes;
// both have ended when done is closed.
type conn struct {
	transport transport
	cancel    context.CancelFunc // drops the connection immediately
	hello     protocol.HelloResult
	ephemeral bool // see Client.Ephemeral

	in      chan []incoming // decoded lines of one message
	out     chan []byte     // one message to write
	closing <-chan struct{} // closed when the end begins: by either goroutine, or by drop
	done    chan struct{}
	err     error // why the connection ended; read only after done
}

// openConn dials and exchanges hello. The error is a *ConnectError.
func openConn(ctx context.Context, d *dialer, hello []byte) (*conn, error) {
	ctx, stop := context.WithTimeout(ctx, openTimeout)
	defer stop()
	t, peerIsAgentctl, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{
		transport: t, ephemeral: !peerIsAgentctl && d.dialect != nil && d.dialect.Ephemeral,
		in: make(chan []incoming), out: make(chan []byte), done: make(chan struct{}),
	}
	if err := c.exchangeHello(ctx, hello); err != nil {
		_ = t.CloseNow()
		return nil, d.connectionError(err)
	}
	lifetime, cancel := context.WithCancel(context.Background())
	c.cancel, c.closing = cancel, lifetime.Done()
	var both sync.WaitGroup
	var readErr, writeErr error
	both.Go(func() { defer cancel(); readErr = c.read(lifetime) })
	both.Go(func() { defer cancel(); writeErr = c.write(lifetime) })
	go func() {
		both.Wait()
		_ = t.CloseNow()
		// Prefer the close status that the reader received: a failed write often only echoes it.
		c.err = readErr
		if websocket.CloseStatus(readErr) < 0 && writeErr != nil && !errors.Is(writeErr, context.Canceled) {
			c.err = writeErr
		}
		close(c.done)
	}()
	return c, nil
}

// exchangeHello sends hello and waits for its answer. Nothing else is sent before.
func (c *conn) exchangeHello(ctx context.Context, hello []byte) error {
	if err := c.transport.Write(ctx, hello); err != nil {
		return fmt.Errorf("send hello: %w", err)
	}
	for {
		message, err := c.transport.Read(ctx)
		if err != nil {
			return fmt.Errorf("read hello answer: %w", err)
		}
		for line := range protocol.Lines(message) {
			_, a, err := protocol.DecodeIncoming(line)
			if err != nil {
				return newDecodeError(line, err)
			}
			if a != nil {
				return decodeAnswer(a, &c.hello)
			}
		}
	}
}

func (c *conn) read(lifetime context.Context) (err error) {
	defer panics.RecoverTo(&err)
	var decoder fastDecoder
	for {
		message, err := c.transport.Read(lifetime)
		if err != nil {
			return err
		}
		lines := decoder.decode(message)
		select {
		case c.in <- lines:
		case <-lifetime.Done():
			return lifetime.Err()
		}
	}
}

func (c *conn) write(lifetime context.Context) (err error) {
	defer panics.RecoverTo(&err)
	for {
		select {
		case message := <-c.out:
			ctx, stop := context.WithTimeout(lifetime, writeTimeout)
			err := c.transport.Write(ctx, message)
			stop()
			if err != nil {
				return fmt.Errorf("write: %w", err)
			}
		case <-lifetime.Done():
			return lifetime.Err()
		}
	}
}

// drop ends the connection immediately and waits for its goroutines.
func (c *conn) drop() {
	c.cancel()
	<-c.done
}

// close sends a WebSocket close, waits at most closeTimeout for the peer's, and waits for the
// connection's goroutines.
func (c *conn) close() {
	timer := time.AfterFunc(closeTimeout, c.cancel)
	defer timer.Stop()
	_ = c.transport.Close(websocket.StatusNormalClosure, "")
	c.drop()
}
