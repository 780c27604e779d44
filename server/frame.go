package server

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
)

const (
	readBuffer    = 512     // holds an ack; larger messages are read past it
	controlBuffer = 2 + 125 // the largest control frame of a server
	opText        = 1
	opClose       = 8
	finalFrame    = 0x80
)

// A frameSocket is the network connection below a WebSocket of the native protocol. It writes
// messages itself: the header of the frame and the message in one system call, the message without
// a copy. The WebSocket library writes control frames, each in one Write, because its buffer holds
// the largest. So no frame is written inside another.
type frameSocket struct {
	net.Conn
	direct net.Conn // the TCP or Unix connection of Conn; nil: another kind, such as TLS

	turn   chan struct{} // capacity 1: held during a write; guards the fields below
	closed bool          // a close frame was written: no frame may follow
	header [10]byte
	parts  [2][]byte
	rest   net.Buffers // of parts, not yet written
}

func newFrameSocket(conn net.Conn) *frameSocket {
	f := &frameSocket{Conn: conn, turn: make(chan struct{}, 1)}
	under := conn
	if s, ok := conn.(*socket); ok {
		under = s.Conn
	}
	switch under.(type) {
	case *net.TCPConn, *net.UnixConn:
		f.direct = under
	}
	return f
}

// Write writes a control frame.
func (f *frameSocket) Write(frame []byte) (int, error) {
	f.turn <- struct{}{}
	defer func() { <-f.turn }()
	if len(frame) > 0 && frame[0]&15 == opClose {
		f.closed = true
	}
	return f.Conn.Write(frame)
}

// writeText writes a text message as one frame.
func (f *frameSocket) writeText(message []byte) (err error) {
	f.turn <- struct{}{}
	defer func() { <-f.turn }()
	if f.closed {
		return net.ErrClosed
	}
	header := appendTextHeader(f.header[:0], len(message))
	if f.direct != nil {
		f.parts = [2][]byte{header, message}
		f.rest = f.parts[:]
		_, err = f.rest.WriteTo(f.direct)
		f.parts, f.rest = [2][]byte{}, nil
		return err
	}
	buf := buffers.Get().(*[]byte)
	*buf = append(append((*buf)[:0], header...), message...)
	_, err = f.Conn.Write(*buf)
	if cap(*buf) > 2*maxWrite {
		*buf = make([]byte, 0, maxWrite)
	}
	buffers.Put(buf)
	return err
}

// appendTextHeader appends the header of a final text frame of a server.
func appendTextHeader(b []byte, size int) []byte {
	b = append(b, finalFrame|opText)
	switch {
	case size <= 125:
		return append(b, byte(size))
	case size <= 0xffff:
		return binary.BigEndian.AppendUint16(append(b, 126), uint16(size))
	default:
		return binary.BigEndian.AppendUint64(append(b, 127), uint64(size))
	}
}

// An upgradeWriter is a response that becomes a WebSocket on a frameSocket, without the buffers of
// net/http, which are larger than a connection needs that mostly waits.
type upgradeWriter struct {
	http.ResponseWriter
	socket *frameSocket // after Hijack
}

// Hijack implements http.Hijacker.
func (u *upgradeWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, fmt.Errorf("take over the connection: %w", err)
	}
	u.socket = newFrameSocket(conn)
	early, _ := rw.Reader.Peek(rw.Reader.Buffered()) // sent with the request
	early = slices.Clone(early)
	in := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(early), conn), max(readBuffer, len(early)))
	_, _ = in.Peek(len(early)) // the library takes the buffered bytes
	return u.socket, bufio.NewReadWriter(in, bufio.NewWriterSize(u.socket, controlBuffer)), nil
}
