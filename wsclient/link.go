package wsclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	"agentctl/internal/panics"
	"agentctl/protocol"
)

// Deadlines of a connection.
const (
	openWithin  = 10 * time.Second // from dialing to the answer to hello
	writeWithin = 10 * time.Second // one message
	closeWithin = 500 * time.Millisecond
)

// A link is one open connection: a goroutine that reads and decodes and one that writes, both owned by the link and over when
// done is closed.
type link struct {
	wire   wire
	cancel context.CancelFunc // drops the connection at once
	hello  protocol.HelloResult

	in   chan []incoming // from the reader: what one message held
	out  chan []byte     // to the writer: one message
	done chan struct{}
	err  error // why it ended; read after done
}

// open dials and says hello. The error is a *ConnectError.
func open(ctx context.Context, d *dialer, hello []byte) (*link, error) {
	ctx, stop := context.WithTimeout(ctx, openWithin)
	defer stop()
	conn, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	l := &link{wire: conn, in: make(chan []incoming), out: make(chan []byte), done: make(chan struct{})}
	if err := l.greet(ctx, hello); err != nil {
		_ = conn.CloseNow()
		return nil, d.lost(err)
	}
	life, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	var both sync.WaitGroup
	var readErr, writeErr error
	both.Go(func() { defer cancel(); readErr = l.read(life) })
	both.Go(func() { defer cancel(); writeErr = l.write(life) })
	go func() {
		both.Wait()
		_ = conn.CloseNow()
		// A failed write is often but the echo of a close that the reader saw the reason of.
		if l.err = readErr; websocket.CloseStatus(readErr) < 0 && writeErr != nil && !errors.Is(writeErr, context.Canceled) {
			l.err = writeErr
		}
		close(l.done)
	}()
	return l, nil
}

// greet sends hello and waits for its answer; nothing else is sent or expected before.
func (l *link) greet(ctx context.Context, hello []byte) error {
	if err := l.wire.Write(ctx, hello); err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	for {
		message, err := l.wire.Read(ctx)
		if err != nil {
			return fmt.Errorf("wait for the answer to hello: %w", err)
		}
		for line := range protocol.Lines(message) {
			_, a, err := protocol.DecodeIncoming(line)
			switch {
			case err != nil:
				return newDecodeError(line, err)
			case a == nil:
				continue
			case a.Error != nil:
				return a.Error
			}
			if err := json.Unmarshal(a.Result, &l.hello); err != nil {
				return newDecodeError(line, err)
			}
			return nil
		}
	}
}

// lost tells why a connection ended: by the server's close code or error, or some other way.
func (d *dialer) lost(err error) *ConnectError {
	e := &ConnectError{URL: d.shown, Err: err}
	var coded *protocol.Error
	if errors.As(err, &coded) {
		e.Code = coded.Code
	} else if websocket.CloseStatus(err) == protocol.ClosePolicy {
		e.Code = protocol.CodeUnauthorized
	}
	var closed websocket.CloseError
	if errors.As(err, &closed) && closed.Reason != "" {
		e.Err = fmt.Errorf("closed by the server: %.200q (%d)", closed.Reason, int(closed.Code))
	}
	return e
}

func (l *link) read(life context.Context) (err error) {
	defer panics.RecoverTo(&err)
	var events quick
	for {
		message, err := l.wire.Read(life)
		if err != nil {
			return err
		}
		lines := events.decode(message)
		select {
		case l.in <- lines:
		case <-life.Done():
			return life.Err()
		}
	}
}

func (l *link) write(life context.Context) (err error) {
	defer panics.RecoverTo(&err)
	for {
		select {
		case message := <-l.out:
			ctx, stop := context.WithTimeout(life, writeWithin)
			err := l.wire.Write(ctx, message)
			stop()
			if err != nil {
				return fmt.Errorf("write: %w", err)
			}
		case <-life.Done():
			return life.Err()
		}
	}
}

// drop ends the connection at once and waits for its goroutines.
func (l *link) drop() {
	l.cancel()
	<-l.done
}

// close takes leave of the server, briefly, and waits for the link's goroutines.
func (l *link) close() {
	give := time.AfterFunc(closeWithin, l.cancel)
	defer give.Stop()
	_ = l.wire.Close(websocket.StatusNormalClosure, "")
	l.drop()
}
