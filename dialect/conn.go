package dialect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"agentctl/protocol/codec"

	"github.com/coder/websocket"

	"agentctl/internal/panics"
)

// A Conn is a foreign WebSocket that reads and writes native messages. One goroutine may read while another writes.
type Conn struct {
	ws    *websocket.Conn // static
	limit int64           // of one foreign message, in bytes; static
	get   ReadFunc        // static; nil: nothing can be read

	name string // of the dialect that a server is to speak; empty at our server's end; static

	refuser SizeLimiter   // the codec, if it is one; static
	ready   chan struct{} // capacity 1: lines wait
	space   chan struct{} // capacity 1: lines were read

	life context.Context
	end  context.CancelFunc
	both sync.WaitGroup // who reads and who writes
	out  *outbox
	deaf chan struct{} // closed when no frame is read any more
	ours bool          // our client's end

	received atomic.Int64 // bytes of foreign messages

	mu      sync.Mutex // one call of the codec at a time, and what it says goes out in that order
	codec   codec.Codec
	lines   []byte // native, to be read
	wake    *time.Timer
	said    []byte // the first frame of our client's, until something is heard
	closing *codec.Close
	err     error // why no frame comes any more
}

// NewServerConn opens a codec on a WebSocket. limit bounds a foreign message in bytes.
func NewServerConn(ws *websocket.Conn, translator codec.Codec, limit int64) *Conn {
	return open(ws, "", translator, limit, nil, false)
}

// NewClientConn is NewServerConn at our client's end, with the name of the dialect that the server is to speak and how a codec that is a Getter gets
// what it asks for. A server that speaks something else is found out by its first word: reading fails with the code unsupported.
// A panic there ends the connection with a *panics.Error, and not the process.
func NewClientConn(ws *websocket.Conn, name string, translator codec.Codec, limit int64, get ReadFunc) *Conn {
	return open(ws, name, translator, limit, get, true)
}

func open(ws *websocket.Conn, name string, translator codec.Codec, limit int64, get ReadFunc, ours bool) *Conn {
	refuser, _ := translator.(SizeLimiter)
	if ws.SetReadLimit(limit); refuser != nil {
		ws.SetReadLimit(-1) // receive bounds it and lets the codec say why
	}
	c := &Conn{
		ws: ws, name: name, limit: limit, get: get, codec: translator, refuser: refuser, ready: make(chan struct{}, 1), space: make(chan struct{}, 1), out: newOutbox(),
		deaf: make(chan struct{}), ours: ours,
	}
	c.life, c.end = context.WithCancel(context.Background())
	c.wake = time.AfterFunc(time.Hour, func() { c.guard(c.wakes) })
	c.wake.Stop()
	c.call(func(now time.Time) codec.Output { return translator.Open(now) })
	c.both.Go(func() { c.guard(c.receive) })
	c.both.Go(func() { c.guard(c.transmit) })
	return c
}

// guard does a part of the connection's work. At our client's end a panic in it is the end of the connection.
func (c *Conn) guard(work func()) {
	if !c.ours {
		work()
		return
	}
	if err := panics.Call(work); err != nil {
		c.fail(err)
		c.end()
	}
}

// call lets the codec work and carries out what it wants.
func (c *Conn) call(f func(time.Time) codec.Output) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := f(time.Now())
	for _, line := range out.Native {
		c.lines = append(append(c.lines, line...), '\n')
	}
	if c.name != "" && c.said == nil && len(out.Foreign) > 0 {
		c.said = out.Foreign[0].Data
	}
	c.out.put(out.Foreign)
	c.fetch()
	if out.Wake.IsZero() {
		c.wake.Stop()
	} else {
		c.wake.Reset(time.Until(out.Wake))
	}
	if out.Close != nil && c.closing == nil {
		c.closing = out.Close
	}
	if len(c.lines) > 0 || c.closing != nil {
		c.tell()
	}
}

// tell wakes who reads.
func (c *Conn) tell() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// fail ends reading, once what came before was read. The peer's reason, which a failed write is often but the echo of, counts most.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	if c.err == nil || websocket.CloseStatus(err) >= 0 || panics.As(err) != nil {
		c.err = err
	}
	c.mu.Unlock()
	c.tell()
}

// transmit writes what the codec says. A failed write is often but the echo of a close whose reason the reader is about to tell.
func (c *Conn) transmit() {
	if err := c.out.write(c.life, c.ws); err != nil {
		_ = c.ws.CloseNow()
		<-c.deaf
		c.fail(fmt.Errorf("write: %w", err))
	}
}

func (c *Conn) wakes() {
	if c.life.Err() == nil {
		c.call(func(now time.Time) codec.Output { return c.codec.Wake(now) })
	}
}

// maxBacklog bounds the native lines that wait to be read, but for those of one frame.
const maxBacklog = 1 << 20

// receive hands foreign frames to the codec until there are no more.
func (c *Conn) receive() {
	defer close(c.deaf)
	for first := true; ; first = false {
		kind, r, err := c.ws.Reader(c.life)
		var data []byte
		if err == nil {
			data, err = io.ReadAll(progress{c.bounded(r), &c.received})
		}
		switch {
		case err != nil:
			c.fail(err)
			return
		case int64(len(data)) > c.limit:
			c.refuse()
			return
		case first && c.name != "":
			c.mu.Lock()
			err = strange(c.name, c.said, data)
			c.mu.Unlock()
			if err != nil {
				c.fail(err)
				return
			}
		}
		c.call(func(now time.Time) codec.Output {
			return c.codec.Foreign(now, codec.Frame{Data: data, Binary: kind == websocket.MessageBinary})
		})
		if !c.hasSpace() || c.out.below(c.life, maxAnswered) != nil && c.life.Err() != nil {
			return
		}
	}
}

// hasSpace waits until the lines that wait are few; false when the connection ends.
func (c *Conn) hasSpace() bool {
	for {
		c.mu.Lock()
		waiting := len(c.lines)
		c.mu.Unlock()
		if waiting <= maxBacklog {
			return true
		}
		select {
		case <-c.space:
		case <-c.life.Done():
			return false
		}
	}
}

// Read returns native lines, at least one. What came before the end of the connection is read before its error; a close that the
// codec wants is a websocket.CloseError.
func (c *Conn) Read(ctx context.Context) ([]byte, error) {
	for {
		c.mu.Lock()
		lines, closing, err := c.lines, c.closing, c.err
		c.lines = nil
		c.mu.Unlock()
		switch {
		case len(lines) > 0:
			select {
			case c.space <- struct{}{}:
			default:
			}
			return lines, nil
		case closing != nil:
			return nil, websocket.CloseError{Code: websocket.StatusCode(closing.Code), Reason: closing.Reason}
		case err != nil:
			return nil, err
		}
		select {
		case <-c.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Write translates native lines, separated by newlines, once few frames wait to be written, and returns when few do again.
func (c *Conn) Write(ctx context.Context, message []byte) error {
	for line := range bytes.Lines(message) {
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 {
			if err := c.out.below(ctx, maxSaid); err != nil {
				return c.reason(ctx, err)
			}
			c.call(func(now time.Time) codec.Output { return c.codec.Native(now, line) })
		}
	}
	if err := c.out.below(ctx, maxSaid); err != nil {
		return c.reason(ctx, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// reason is why a write failed: why no frame comes any more, if the reader knows that.
func (c *Conn) reason(ctx context.Context, err error) error {
	select {
	case <-c.deaf:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	return fmt.Errorf("write: %w", err)
}

// Received is how many bytes came, of a message that is still coming too. Any goroutine may ask.
func (c *Conn) Received() int64 { return c.received.Load() }

// progress counts what is read.
type progress struct {
	io.Reader
	bytes *atomic.Int64
}

func (p progress) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.bytes.Add(int64(n))
	return n, err
}

// Ping asks the foreign peer for a sign of life.
func (c *Conn) Ping(ctx context.Context) error { return c.ws.Ping(ctx) }

// Close writes what waits, closes the connection with a code, or with the one that the codec wanted, and waits for its goroutines.
// CloseNow ends it at once.
func (c *Conn) Close(code websocket.StatusCode, reason string) error {
	c.mu.Lock()
	if c.closing != nil {
		code, reason = websocket.StatusCode(c.closing.Code), c.closing.Reason
	}
	c.mu.Unlock()
	_ = c.out.below(c.life, 0)
	err := c.ws.Close(code, reason)
	c.finish()
	return err
}

// CloseNow drops the connection and waits for its goroutines. A Close under way waits for the peer no more.
func (c *Conn) CloseNow() error {
	c.end()
	err := c.ws.CloseNow()
	c.finish()
	return err
}

func (c *Conn) finish() {
	c.end()
	c.wake.Stop()
	_ = c.ws.CloseNow()
	c.both.Wait()
}
