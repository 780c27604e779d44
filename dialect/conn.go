package dialect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"agentctl/internal/panics"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A Socket is a WebSocket below a Conn.
type Socket interface {
	SetReadLimit(n int64)
	Reader(ctx context.Context) (websocket.MessageType, io.Reader, error)
	Write(ctx context.Context, kind websocket.MessageType, message []byte) error
	Ping(ctx context.Context) error
	Close(code websocket.StatusCode, reason string) error
	CloseNow() error
}

// A Host takes the native lines of a Conn in order, instead of Read.
type Host interface {
	// Handle handles a line. It returns false when the connection ends.
	Handle(line []byte) bool

	// End ends the connection with the close code of the codec.
	End(code websocket.StatusCode, reason string)
}

// A Conn is a foreign WebSocket that reads and writes native messages. One goroutine may read while
// another writes. While nothing is sent it has no goroutine with a Host, else one that reads.
type Conn struct {
	// Static after construction.

	ws          Socket
	limit       int64       // bytes of a foreign message
	dialect     string      // that the server should speak; empty at agentctl's server
	read        ReadFunc    // nil: HTTP paths cannot be read
	sizeLimiter SizeLimiter // the codec, if it is one

	ctx        context.Context // of the connection's life
	cancel     context.CancelFunc
	goroutines sync.WaitGroup
	writes     *writeQueue
	host       atomic.Pointer[Host] // set before the first Read; nil: Read returns lines
	reading    sync.Once
	delivering sync.Mutex // held while host handles lines

	linesReady chan struct{} // capacity 1: lines wait for Read
	spaceReady chan struct{} // capacity 1: Read took lines
	readerDone chan struct{} // closed when readLoop ended
	received   atomic.Int64  // bytes of foreign messages

	mu        sync.Mutex // serializes the codec's calls and the order of their frames
	codec     codec.Codec
	lines     []byte // native, for Read
	wake      *time.Timer
	firstSent []byte // the client's first frame
	closing   *codec.Close
	err       error // why no more frames come
}

// NewServerConn starts a codec of agentctl's server on a WebSocket. limit bounds a foreign message,
// in bytes. A panic ends the connection with a *panics.Error instead of the process.
func NewServerConn(ws Socket, translator codec.Codec, limit int64) *Conn {
	return newConn(ws, "", translator, limit, nil)
}

// NewClientConn starts a codec of agentctl's client on a WebSocket. name is the dialect that the
// server should speak; read serves a codec that is an HTTPReader. If the server's first message is
// of another protocol, Read fails with the code unsupported. A panic ends the connection with a
// *panics.Error instead of the process.
func NewClientConn(ws *websocket.Conn, name string, translator codec.Codec, limit int64, read ReadFunc) *Conn {
	c := newConn(ws, name, translator, limit, read)
	c.startReader()
	return c
}

func newConn(
	ws Socket, name string, translator codec.Codec, limit int64, read ReadFunc,
) *Conn {
	sizeLimiter, _ := translator.(SizeLimiter)
	if ws.SetReadLimit(limit); sizeLimiter != nil {
		ws.SetReadLimit(-1) // readLoop bounds it and lets the codec report it
	}
	c := &Conn{
		ws: ws, limit: limit, dialect: name, read: read, sizeLimiter: sizeLimiter, codec: translator,
		writes: newWriteQueue(), linesReady: make(chan struct{}, 1), spaceReady: make(chan struct{}, 1),
		readerDone: make(chan struct{}),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.wake = time.AfterFunc(time.Hour, func() { c.recoverPanic(c.onWake) })
	c.wake.Stop()
	c.runCodec(func(now time.Time) codec.Output { return translator.Open(now) })
	return c
}

// SetHost makes a host take the lines. Read then returns none: each call reads a foreign frame. Call it
// before Read and Write. A goroutine may write the codec's first frames already.
func (c *Conn) SetHost(h Host) { c.host.Store(&h) }

// hasHost reports whether a host takes the lines.
func (c *Conn) hasHost() bool { return c.host.Load() != nil }

// recoverPanic runs work. A panic ends the connection.
func (c *Conn) recoverPanic(work func()) {
	if err := panics.Call(work); err != nil {
		c.fail(err)
		c.cancel()
	}
}

// runCodec calls the codec and carries out its output.
func (c *Conn) runCodec(f func(time.Time) codec.Output) {
	switch waits := c.callCodec(f); {
	case !waits:
	case !c.hasHost():
		c.signalReader()
	default:
		c.spawn(c.deliver)
	}
}

// callCodec calls the codec and carries out its output, except that it wakes none. It reports whether
// lines or a close wait.
func (c *Conn) callCodec(f func(time.Time) codec.Output) (waits bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := f(time.Now())
	for _, line := range out.Native {
		c.lines = append(append(c.lines, line...), '\n')
	}
	if c.dialect != "" && c.firstSent == nil && len(out.Foreign) > 0 {
		c.firstSent = out.Foreign[0].Data
	}
	if c.writes.push(out.Foreign) && c.ctx.Err() == nil {
		c.goroutines.Go(func() { c.recoverPanic(c.write) })
	}
	c.readPaths()
	if out.Wake.IsZero() {
		c.wake.Stop()
	} else {
		c.wake.Reset(time.Until(out.Wake))
	}
	if out.Close != nil && c.closing == nil {
		c.closing = out.Close
	}
	return len(c.lines) > 0 || c.closing != nil
}

// spawn runs work on a goroutine of the connection, unless it has ended.
func (c *Conn) spawn(work func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() == nil {
		c.goroutines.Go(func() { c.recoverPanic(work) })
	}
}

// deliver passes lines to the host.
func (c *Conn) deliver() {
	c.delivering.Lock()
	defer c.delivering.Unlock()
	host := *c.host.Load()
	for {
		c.mu.Lock()
		lines, closing := c.lines, c.closing
		c.lines = nil
		c.mu.Unlock()
		for line := range protocol.Lines(lines) {
			if !host.Handle(line) {
				return
			}
		}
		if len(lines) == 0 {
			if closing != nil {
				host.End(websocket.StatusCode(closing.Code), closing.Reason)
			}
			return
		}
	}
}

// signalReader wakes Read.
func (c *Conn) signalReader() {
	select {
	case c.linesReady <- struct{}{}:
	default:
	}
}

// fail makes Read return err after the lines that came before. A later error replaces it only if it
// carries the peer's close reason, or a panic: a failed write often only follows a close by the
// peer.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	if c.err == nil || websocket.CloseStatus(err) >= 0 || panics.As(err) != nil {
		c.err = err
	}
	c.mu.Unlock()
	c.signalReader()
}

// write writes the codec's frames until none is left. It reports a failed write after the reader, which
// may know the reason.
func (c *Conn) write() {
	if err := c.writes.writeAll(c.ctx, c.ws); err != nil {
		_ = c.ws.CloseNow()
		c.awaitReader(c.ctx)
		c.fail(fmt.Errorf("write: %w", err))
	}
}

// awaitReader waits until the reader of the socket has ended. With a host it may wait for the writer.
func (c *Conn) awaitReader(ctx context.Context) {
	if c.hasHost() {
		return
	}
	select {
	case <-c.readerDone:
	case <-ctx.Done():
	}
}

func (c *Conn) onWake() {
	if c.ctx.Err() == nil {
		c.runCodec(func(now time.Time) codec.Output { return c.codec.Wake(now) })
	}
}

// maxBacklog bounds the native lines that wait for Read, not counting lines of the last frame.
const maxBacklog = 1 << 20

// readLoop passes foreign frames to the codec until the connection ends.
func (c *Conn) readLoop() {
	defer close(c.readerDone)
	for first := true; ; first = false {
		if waits, ok := c.readFrame(first); !ok {
			c.signalReader()
			return
		} else if waits {
			c.signalReader()
		}
		if !c.waitForSpace() || c.writes.waitBelow(c.ctx, maxForeignQueue) != nil && c.ctx.Err() != nil {
			return
		}
	}
}

// readFrame passes a foreign frame to the codec. It reports whether lines or a close wait. ok is false
// at the end of the connection.
func (c *Conn) readFrame(first bool) (waits, ok bool) {
	kind, r, err := c.ws.Reader(c.ctx)
	var data []byte
	if err == nil {
		data, err = io.ReadAll(byteCounter{c.limitReader(r), &c.received})
	}
	switch {
	case err != nil:
		if ender, ok := c.codec.(codec.Ender); ok {
			c.callCodec(ender.End)
		}
		c.fail(err)
		return true, false
	case int64(len(data)) > c.limit:
		c.failTooLarge()
		return true, false
	case first && c.dialect != "":
		c.mu.Lock()
		err = wrongProtocol(c.dialect, c.firstSent, data)
		c.mu.Unlock()
		if err != nil {
			c.fail(err)
			return true, false
		}
	}
	return c.callCodec(func(now time.Time) codec.Output {
		return c.codec.Foreign(now, codec.Frame{Data: data, Binary: kind == websocket.MessageBinary})
	}), true
}

// waitForSpace waits until Read took most lines. It returns false when the connection ends.
func (c *Conn) waitForSpace() bool {
	for {
		c.mu.Lock()
		waiting := len(c.lines)
		c.mu.Unlock()
		if waiting <= maxBacklog {
			return true
		}
		select {
		case <-c.spaceReady:
		case <-c.ctx.Done():
			return false
		}
	}
}

// readForHost reads a foreign frame and passes the lines to the host.
func (c *Conn) readForHost() error {
	c.deliver()
	_, ok := c.readFrame(false)
	c.deliver()
	if ok {
		_ = c.writes.waitBelow(c.ctx, maxForeignQueue)
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing != nil {
		return closeError(c.closing)
	}
	return c.err
}

// closeError returns the error of a close that the codec requested.
func closeError(c *codec.Close) error {
	return websocket.CloseError{Code: websocket.StatusCode(c.Code), Reason: c.Reason}
}

// startReader starts the goroutine that reads, unless a host takes the lines.
func (c *Conn) startReader() {
	if !c.hasHost() {
		c.reading.Do(func() { c.spawn(c.readLoop) })
	}
}

// Read returns at least one native line, or none with a host. Lines that came before the end of the
// connection are returned before its error. A close that the codec requested is a websocket.CloseError.
func (c *Conn) Read(ctx context.Context) ([]byte, error) {
	if c.hasHost() {
		return nil, c.readForHost()
	}
	c.startReader()
	for {
		c.mu.Lock()
		lines, closing, err := c.lines, c.closing, c.err
		c.lines = nil
		c.mu.Unlock()
		switch {
		case len(lines) > 0:
			select {
			case c.spaceReady <- struct{}{}:
			default:
			}
			return lines, nil
		case closing != nil:
			return nil, closeError(closing)
		case err != nil:
			return nil, err
		}
		select {
		case <-c.linesReady:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Write translates native lines, separated by newlines. It waits for room in the write queue before
// each line and after the last.
func (c *Conn) Write(ctx context.Context, message []byte) error {
	c.startReader()
	for line := range bytes.Lines(message) {
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 {
			if err := c.writes.waitBelow(ctx, maxNativeQueue); err != nil {
				return c.writeError(ctx, err)
			}
			c.runCodec(func(now time.Time) codec.Output { return c.codec.Native(now, line) })
		}
	}
	if err := c.writes.waitBelow(ctx, maxNativeQueue); err != nil {
		return c.writeError(ctx, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// writeError returns the reason of a failed write: the reader's error, if it has one.
func (c *Conn) writeError(ctx context.Context, err error) error {
	c.awaitReader(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	return fmt.Errorf("write: %w", err)
}

// Received returns the number of bytes received, including bytes of an incomplete message. Safe for
// concurrent use.
func (c *Conn) Received() int64 { return c.received.Load() }

// byteCounter counts the bytes read.
type byteCounter struct {
	io.Reader
	bytes *atomic.Int64
}

func (p byteCounter) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.bytes.Add(int64(n))
	return n, err
}

// Ping sends a WebSocket ping and waits for the pong.
func (c *Conn) Ping(ctx context.Context) error { return c.ws.Ping(ctx) }

// Close writes the queued frames, closes the connection with the codec's close code, or else with
// code, and waits for its goroutines. CloseNow interrupts it.
func (c *Conn) Close(code websocket.StatusCode, reason string) error {
	c.mu.Lock()
	if c.closing != nil {
		code, reason = websocket.StatusCode(c.closing.Code), c.closing.Reason
	}
	c.mu.Unlock()
	_ = c.writes.waitBelow(c.ctx, 0)
	err := c.ws.Close(code, reason)
	c.finish()
	return err
}

// CloseNow drops the connection and waits for its goroutines.
func (c *Conn) CloseNow() error {
	c.cancel()
	err := c.ws.CloseNow()
	c.finish()
	return err
}

func (c *Conn) finish() {
	c.mu.Lock()
	c.cancel() // no goroutine starts any more
	c.mu.Unlock()
	c.wake.Stop()
	_ = c.ws.CloseNow()
	c.goroutines.Wait()
}

// A SizeLimiter is a codec that reports a message over the limit to the foreign peer. The
// connection is closed afterwards. Its method is serialized with the codec's methods. Every server
// codec implements it; for other codecs the connection is closed without a report.
type SizeLimiter interface {
	// TooLarge replaces Foreign for a message over the limit. message is an error text for users.
	TooLarge(now time.Time, message string) codec.Output
}

// limitReader bounds a message to one byte over the limit, if the codec is a SizeLimiter.
func (c *Conn) limitReader(r io.Reader) io.Reader {
	if c.sizeLimiter == nil {
		return r // the WebSocket bounds it
	}
	return io.LimitReader(r, c.limit+1)
}

// failTooLarge lets the codec report a message over the limit, and closes the connection.
func (c *Conn) failTooLarge() {
	message := fmt.Sprintf("a message holds at most %d bytes", c.limit)
	c.runCodec(func(now time.Time) codec.Output {
		out := c.sizeLimiter.TooLarge(now, message)
		out.Close = &codec.Close{Code: protocol.CloseTooLarge, Reason: message}
		return out
	})
}
