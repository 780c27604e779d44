package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

// A client follows one session of a server and counts the deltas in what it reads. It decodes no
// JSON, so that it takes little from the server's processor time.
type client struct {
	source io.Reader // of lines
	ack    func(c *client) error
	close  func()
	buf    []byte
	rest   []byte // of buf: the start of an incomplete line

	deltas    int
	last      int // index of the last delta
	seq       uint64
	presence  int // lines about clients
	bytes     int
	lastBytes int // bytes at the last acknowledgement
	acked     uint64
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

// head returns the start of a line: a fold is long.
func head(line []byte) []byte { return line[:min(len(line), headSize)] }

// count counts the lines and acknowledges them.
func (c *client) count(lines []byte) error {
	var delta []byte // the last one
	for line := range bytes.Lines(lines) {
		if head := head(line); bytes.Contains(head, deltaMark) {
			delta = head
			c.deltas++
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
			if bytes.Contains(head(line), mark) {
				return nil
			}
		}
	}
}

// subscribe follows a session by the native protocol, with acknowledgements.
func (s *instance) subscribe(ctx context.Context, id string, d protocol.SubscribeData) (*client, error) {
	conn, _, err := websocket.Dial(ctx, "ws://"+s.address+protocol.Path, &websocket.DialOptions{ //nolint:bodyclose // no body
		HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}, Subprotocols: []string{protocol.Subprotocol},
	})
	if err != nil {
		return nil, err
	}
	stream := websocket.NetConn(ctx, conn, websocket.MessageText)
	conn.SetReadLimit(-1)
	c := &client{source: stream, ack: acknowledger(stream, id), close: func() { _ = conn.CloseNow() }}
	for _, command := range []protocol.Command{
		{ID: "1", Command: protocol.DoHello, Data: protocol.MustEncode(protocol.HelloData{Acks: true})},
		{ID: "2", Command: protocol.DoSubscribe, Session: id, Data: protocol.MustEncode(d)},
	} {
		if _, err := stream.Write(protocol.MustEncode(command)); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// stream follows a session by server-sent events.
func (s *instance) stream(ctx context.Context, id, query string) (*client, error) {
	url := "http://" + s.address + "/api/sessions/" + id + "/events?" + query
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r) //nolint:bodyclose // close does
	if err != nil {
		return nil, err
	}
	c := &client{source: response.Body, close: func() { _ = response.Body.Close() }}
	if response.StatusCode != http.StatusOK {
		c.close()
		return nil, fmt.Errorf("events: %s", response.Status)
	}
	return c, nil
}

// ackBytes and ackDelay equal the values of wsclient: the bytes and the time after which events are
// acknowledged.
const (
	ackBytes = 64 << 10
	ackDelay = 50 * time.Millisecond
)

// acknowledger returns a function that acknowledges what a client has read.
func acknowledger(w io.Writer, id string) func(*client) error {
	prefix := `{"command":"ack","session":"` + id + `","data":{"seq":`
	return func(c *client) error {
		if c.seq == c.acked || c.bytes-c.lastBytes < ackBytes && time.Since(c.ackedAt) < ackDelay {
			return nil
		}
		c.acked, c.lastBytes, c.ackedAt = c.seq, c.bytes, time.Now()
		_, err := w.Write(fmt.Appendf(nil, "%s%d}}", prefix, c.seq))
		return err
	}
}
