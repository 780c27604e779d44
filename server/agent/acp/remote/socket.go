package remote

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// A socket is a connection over a WebSocket: each message is a text frame.
type socket struct {
	conn   *websocket.Conn
	client *http.Client
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	rest   []byte // of the last message read
}

func dialSocket(ctx context.Context, client *http.Client, a Address) (io.ReadWriteCloser, error) {
	conn, answer, err := websocket.Dial(ctx, a.URL, &websocket.DialOptions{HTTPClient: client, HTTPHeader: a.Headers})
	if err != nil {
		client.CloseIdleConnections()
		if answer != nil && answer.StatusCode != http.StatusSwitchingProtocols {
			err = &statusError{status: answer.StatusCode}
		}
		return nil, err
	}
	conn.SetReadLimit(maxMessage)
	s := &socket{conn: conn, client: client}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	go s.ping()
	return s, nil
}

// ping closes a connection whose peer does not answer any more.
func (s *socket) ping() {
	tick := time.NewTicker(pingInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(s.ctx, pingTimeout)
		err := s.conn.Ping(ctx)
		cancel()
		if err != nil {
			_ = s.conn.CloseNow()
			return
		}
	}
}

// Read implements io.Reader. Only one goroutine may read.
func (s *socket) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		kind, message, err := s.conn.Read(s.ctx)
		if err != nil {
			return 0, err
		}
		if kind == websocket.MessageText { // the protocol has no others
			s.rest = line(message)
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Write implements io.Writer.
func (s *socket) Write(message []byte) (int, error) {
	if err := s.conn.Write(s.ctx, websocket.MessageText, bytes.TrimSuffix(message, []byte("\n"))); err != nil {
		return 0, err
	}
	return len(message), nil
}

// Close implements io.Closer.
func (s *socket) Close() error {
	err := s.conn.Close(websocket.StatusNormalClosure, "")
	s.cancel()
	s.client.CloseIdleConnections()
	return err
}
