package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"agentctl/protocol"
)

// A client follows one session of a server and counts the deltas in what it reads.
type client struct {
	conn   net.Conn
	source io.Reader // of lines
	ack    func(c *client) error
	buf    []byte
	rest   []byte // of buf: the start of an incomplete line

	deltas    int
	last      int // index of the last delta
	seq       uint64
	presence  int // lines about clients
	bytes     int
	unacked   int // deltas since the last acknowledgement
	lastBytes int // bytes at the last acknowledgement
	ackedAt   time.Time
}

// readSize is the size of a client's buffer.
const readSize = 64 << 10

var (
	deltaMark     = []byte(`"type":"text.delta"`)
	presenceMark  = []byte(`"type":"client.`)
	caughtUpMark  = []byte(`"type":"caught_up"`)
	turnEndedMark = []byte(`"type":"turn.ended"`)
	seqMark       = []byte(`"seq":`)
	textMark      = []byte(`"text":"`)
)

// errDisorder is the error for a client that lost or repeated an event.
var errDisorder = errors.New("a client lost or repeated an event")

// next reads once and returns the complete lines. They are valid until the next call.
func (c *client) next() ([]byte, error) {
	if c.buf == nil {
		c.buf = make([]byte, readSize)
	}
	kept := copy(c.buf, c.rest)
	for {
		if kept == len(c.buf) {
			c.buf = append(c.buf, make([]byte, len(c.buf))...)
		}
		n, err := c.source.Read(c.buf[kept:])
		if n == 0 && err != nil {
			return nil, err
		}
		c.bytes += n
		kept += n
		end := bytes.LastIndexByte(c.buf[:kept], '\n') + 1
		if end > 0 {
			c.rest = c.buf[end:kept]
			return c.buf[:end], c.count(c.buf[:end])
		}
	}
}

// headSize is the size of the start of a line with all fields before the text of an event.
const headSize = 256

// count counts the lines and acknowledges them. Of a line it reads the head alone: a fold is long.
func (c *client) count(lines []byte) error {
	var delta []byte // the last one
	for line := range bytes.Lines(lines) {
		head := line[:min(len(line), headSize)]
		if bytes.Contains(head, deltaMark) {
			delta = head
			c.deltas++
			c.unacked++
		} else if bytes.Contains(head, presenceMark) {
			c.presence++
		}
	}
	if _, text, ok := bytes.Cut(delta, textMark); ok {
		c.last = int(number(text))
	}
	if _, seq, ok := bytes.Cut(delta, seqMark); ok {
		c.seq = number(seq)
	}
	if c.ack != nil {
		return c.ack(c)
	}
	return nil
}

// number returns the decimal number at the start of b.
func number(b []byte) (n uint64) {
	for _, c := range b {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + uint64(c-'0')
	}
	return n
}

// readDeltas reads until the client has so many deltas, all in their order.
func (c *client) readDeltas(n int) error {
	for c.deltas < n {
		if _, err := c.next(); err != nil {
			return fmt.Errorf("after %d of %d events: %w", c.deltas, n, err)
		}
		if c.deltas > 0 && c.last != c.deltas-1 {
			return fmt.Errorf("%w: event %d is number %d", errDisorder, c.last, c.deltas-1)
		}
	}
	if c.deltas > n {
		return fmt.Errorf("%w: %d events, not %d", errDisorder, c.deltas, n)
	}
	return nil
}

// readUntil reads until the head of a line contains mark.
func (c *client) readUntil(mark []byte) error {
	for {
		lines, err := c.next()
		if err != nil {
			return err
		}
		for line := range bytes.Lines(lines) {
			if bytes.Contains(line[:min(len(line), headSize)], mark) {
				return nil
			}
		}
	}
}

func (c *client) close() { _ = c.conn.Close() }

// dialTCP connects to the loopback interface.
func dialTCP(ctx context.Context, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return c, c.SetDeadline(time.Now().Add(5 * time.Minute))
}

// dialReference follows a session of a reference.
func dialReference(ctx context.Context, address, id string, start bool) (*client, error) {
	conn, err := dialTCP(ctx, address)
	if err != nil {
		return nil, err
	}
	from := "end"
	if start {
		from = "start"
	}
	if _, err := fmt.Fprintf(conn, "%s %s\n", id, from); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	c := &client{conn: conn, source: conn}
	return c, c.readUntil([]byte("ready"))
}

// dialSSE follows a session of agentctl by server-sent events.
func dialSSE(ctx context.Context, address, id, query string) (*client, error) {
	conn, err := dialTCP(ctx, address)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "GET /api/sessions/%s/events?%s HTTP/1.1\r\nHost: %s\r\n"+
		"Authorization: Bearer %s\r\n\r\n", id, query, address, token); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	r, err := http.ReadResponse(bufio.NewReaderSize(conn, 4096), nil) //nolint:bodyclose // closed with conn
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if r.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("events: %s", r.Status), conn.Close())
	}
	return &client{conn: conn, source: r.Body}, nil
}

// dialWebSocket follows a session of agentctl by the native protocol, with acknowledgements.
func dialWebSocket(
	ctx context.Context, address, id string, d protocol.SubscribeData, ackEvents int,
) (*client, error) {
	c, err := dialUpgrade(ctx, address, protocol.Path, "Authorization: Bearer "+token+"\r\n"+
		"Sec-WebSocket-Protocol: "+protocol.Subprotocol+"\r\n")
	if err != nil {
		return nil, err
	}
	c.ack = acknowledger(id, ackEvents)
	return c, errors.Join(
		writeFrame(c.conn, opText, protocol.MustEncode(protocol.Command{
			ID: "1", Command: protocol.DoHello, Data: protocol.MustEncode(protocol.HelloData{Acks: true}),
		})),
		writeFrame(c.conn, opText, protocol.MustEncode(protocol.Command{
			ID: "2", Command: protocol.DoSubscribe, Session: id, Data: protocol.MustEncode(d),
		})),
	)
}

// dialUpgrade connects by WebSocket, with further lines of the request.
func dialUpgrade(ctx context.Context, address, path, lines string) (*client, error) {
	conn, err := dialTCP(ctx, address)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n%s"+
		"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", path, address, lines); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	in := bufio.NewReaderSize(conn, 512)
	r, err := http.ReadResponse(in, nil) //nolint:bodyclose // there is none
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if r.StatusCode != http.StatusSwitchingProtocols {
		return nil, errors.Join(fmt.Errorf("websocket: %s", r.Status), conn.Close())
	}
	return &client{conn: conn, source: &frameReader{in: in, conn: conn}}, nil
}

// ackBytes and ackDelay are those of wsclient: the bytes and the time after which events are
// acknowledged.
const (
	ackBytes = 64 << 10
	ackDelay = 50 * time.Millisecond
)

// acknowledger returns a function that acknowledges what a client has read, after so many events
// or, with 0, by bytes and time.
func acknowledger(id string, events int) func(*client) error {
	prefix := `{"command":"ack","session":"` + id + `","data":{"seq":`
	return func(c *client) error {
		due := c.bytes-c.lastBytes >= ackBytes || time.Since(c.ackedAt) >= ackDelay
		if events > 0 {
			due = c.unacked >= events
		}
		if !due || c.unacked == 0 {
			return nil
		}
		c.unacked, c.lastBytes, c.ackedAt = 0, c.bytes, time.Now()
		return writeFrame(c.conn, opText, fmt.Appendf(nil, "%s%d}}", prefix, c.seq))
	}
}

const (
	opText   = 1
	opBinary = 2
	opPing   = 9
	opPong   = 10
)

// A frameReader reads the contents of a server's WebSocket frames, and answers pings.
type frameReader struct {
	in   *bufio.Reader
	conn net.Conn
	left int
}

// Read implements io.Reader.
func (f *frameReader) Read(b []byte) (int, error) {
	for f.left == 0 {
		var head [8]byte
		if _, err := io.ReadFull(f.in, head[:2]); err != nil {
			return 0, err
		}
		op, size := head[0]&15, int(head[1]&127)
		switch size {
		case 126:
			if _, err := io.ReadFull(f.in, head[:2]); err != nil {
				return 0, err
			}
			size = int(binary.BigEndian.Uint16(head[:]))
		case 127:
			if _, err := io.ReadFull(f.in, head[:]); err != nil {
				return 0, err
			}
			size = int(binary.BigEndian.Uint64(head[:]))
		}
		if op <= opBinary {
			f.left = size
			continue
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(f.in, text); err != nil {
			return 0, err
		}
		if op != opPing {
			return 0, fmt.Errorf("the server closed the connection: %s", strings.ToValidUTF8(string(text), ""))
		}
		if err := writeFrame(f.conn, opPong, text); err != nil {
			return 0, err
		}
	}
	n, err := f.in.Read(b[:min(len(b), f.left)])
	f.left -= n
	return n, err
}

// writeFrame writes a client's frame, masked with zeros.
func writeFrame(w io.Writer, op byte, b []byte) error {
	head := make([]byte, 0, 14+len(b))
	if len(b) < 126 {
		head = append(head, 0x80|op, 0x80|byte(len(b)))
	} else {
		head = binary.BigEndian.AppendUint16(append(head, 0x80|op, 0x80|126), uint16(len(b)))
	}
	_, err := w.Write(append(append(head, 0, 0, 0, 0), b...))
	return err
}
