package remote

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Headers of the transport.
const (
	connectionHeader = "Acp-Connection-Id"
	sessionHeader    = "Acp-Session-Id"
)

// closeTimeout is the time for the request that ends a connection.
const closeTimeout = 5 * time.Second

// A stream is a connection over HTTP: a message is posted, and what the agent sends arrives as
// server-sent events, in one stream for the connection and one for each session. There is no replay:
// when a stream ends, the connection ends.
type stream struct {
	client  *http.Client
	address Address
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	in      *io.PipeReader
	out     *io.PipeWriter // of the goroutines that read events
	readers sync.WaitGroup

	mu         sync.Mutex
	connection string            // its id; empty: not initialized
	sessions   map[string]bool   // with a stream
	asked      map[string]string // sessions of the agent's requests, by id
	restoring  map[string]string // sessions whose streams open with an answer, by the request's id
}

func newStream(client *http.Client, a Address) *stream {
	s := &stream{client: client, address: a, sessions: map[string]bool{}}
	s.asked, s.restoring = map[string]string{}, map[string]string{}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.in, s.out = io.Pipe()
	return s
}

// A routed is what the transport reads of a message.
type routed struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Session string `json:"sessionId"`
	} `json:"params"`
	Result struct {
		Session string `json:"sessionId"`
	} `json:"result"`
	Error json.RawMessage `json:"error"`
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) { return s.in.Read(p) }

// Write implements io.Writer. Only one goroutine may write.
func (s *stream) Write(message []byte) (int, error) {
	var m routed
	_ = json.Unmarshal(message, &m) // fields of other types stay empty
	err := s.send(bytes.TrimSuffix(message, []byte("\n")), &m)
	if err != nil {
		s.fail(err)
		return 0, err
	}
	return len(message), nil
}

// send posts a message. A request that the server refuses gets an error as its answer, unless the
// whole connection is refused.
func (s *stream) send(message []byte, m *routed) error {
	if s.connectionID() == "" {
		return s.initialize(message)
	}
	session := m.Params.Session
	if m.Method == "" {
		session = s.take(s.asked, m.ID)
	}
	if session != "" {
		if err := s.openSession(session); err != nil && !s.opensLater(err, session, m) {
			return err
		}
	}
	answer, err := s.do(s.ctx, http.MethodPost, session, bytes.NewReader(message))
	if err == nil {
		_ = answer.Body.Close()
		return nil
	}
	refused, ok := errors.AsType[*statusError](err)
	if !ok || m.Method == "" || m.ID == nil {
		return err
	}
	switch refused.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		return err
	}
	b, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32603, "message": refused.Error()},
	})
	if err == nil {
		_, err = s.out.Write(append(b, '\n'))
	}
	return err
}

// initialize posts the first message, whose answer has the id of the connection, and opens the stream
// of the connection.
func (s *stream) initialize(message []byte) error {
	answer, err := s.do(s.ctx, http.MethodPost, "", bytes.NewReader(message))
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	id := answer.Header.Get(connectionHeader)
	if id == "" {
		return fmt.Errorf("the answer to initialize has no header %s", connectionHeader)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxMessage))
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.connection = id
	s.mu.Unlock()
	if err := s.openEvents(""); err != nil {
		return err
	}
	_, err = s.out.Write(line(body))
	return err
}

func (s *stream) connectionID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connection
}

// openSession opens the stream of a session, once.
func (s *stream) openSession(session string) error {
	s.mu.Lock()
	open := s.sessions[session]
	s.sessions[session] = true
	s.mu.Unlock()
	if open {
		return nil
	}
	err := s.openEvents(session)
	if err != nil {
		s.mu.Lock()
		delete(s.sessions, session)
		s.mu.Unlock()
	}
	return err
}

// opensLater reports whether the stream of a session opens with the answer to m: a server may refuse
// a session that the connection has not restored yet. qwen serve does (0.24.4).
func (s *stream) opensLater(err error, session string, m *routed) bool {
	refused, ok := errors.AsType[*statusError](err)
	restores := m.ID != nil && (m.Method == "session/load" || m.Method == "session/resume")
	if !restores || !ok ||
		refused.status != http.StatusForbidden && refused.status != http.StatusNotFound {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restoring[string(m.ID)] = session
	return true
}

// openEvents opens a stream of events; session is empty for the connection's stream.
func (s *stream) openEvents(session string) error {
	answer, err := s.do(s.ctx, http.MethodGet, session, nil)
	if err != nil {
		return err
	}
	s.readers.Go(func() {
		defer func() { _ = answer.Body.Close() }()
		err := s.readEvents(answer.Body, session)
		if err == nil {
			err = io.ErrUnexpectedEOF // without it, no answer arrives any more
		}
		s.fail(err)
	})
	return nil
}

// readEvents passes the data of events on, until the end of the stream.
func (s *stream) readEvents(body io.Reader, session string) error {
	scanner := bufio.NewScanner(body)
	scanner.Buffer(make([]byte, 64<<10), maxMessage)
	var data []byte
	for scanner.Scan() {
		text := bytes.TrimSuffix(scanner.Bytes(), []byte("\r"))
		if value, ok := bytes.CutPrefix(text, []byte("data:")); ok {
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
			if len(data) > maxMessage {
				return bufio.ErrTooLong
			}
		}
		if len(text) > 0 || data == nil {
			continue
		}
		if err := s.receive(data, session); err != nil {
			return err
		}
		data = nil
	}
	return scanner.Err()
}

// receive passes a message of the agent on. It notes the session of a request, whose answer needs it,
// and opens the stream of a session that a result names.
func (s *stream) receive(message []byte, session string) error {
	var m routed
	_ = json.Unmarshal(message, &m) // fields of other types stay empty
	switch {
	case m.Method != "" && m.ID != nil && session != "":
		s.mu.Lock()
		s.asked[string(m.ID)] = session
		s.mu.Unlock()
	case m.Method == "" && m.ID != nil:
		restored := s.take(s.restoring, m.ID)
		if opened := cmp.Or(m.Result.Session, restored); opened != "" && m.Error == nil {
			if err := s.openSession(opened); err != nil {
				return err
			}
		}
	}
	_, err := s.out.Write(line(message))
	return err
}

// take removes a session from asked or restoring and returns it, or "".
func (s *stream) take(from map[string]string, id json.RawMessage) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := from[string(id)]
	delete(from, string(id))
	return session
}

// do sends a request. An answer that is no success is an error.
func (s *stream) do(ctx context.Context, method, session string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.address.URL, body)
	if err != nil {
		return nil, err
	}
	for name, values := range s.address.Headers {
		r.Header[name] = values
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	} else {
		r.Header.Set("Accept", "text/event-stream")
	}
	if id := s.connectionID(); id != "" {
		r.Header.Set(connectionHeader, id)
	}
	if session != "" {
		r.Header.Set(sessionHeader, session)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	return answer, s.address.checkStatus(answer)
}

// fail ends the connection for the reader.
func (s *stream) fail(err error) {
	_ = s.out.CloseWithError(err)
	s.cancel()
}

// Close implements io.Closer. It informs the server.
func (s *stream) Close() error {
	s.fail(io.EOF)
	_ = s.in.Close()
	s.readers.Wait()
	defer s.client.CloseIdleConnections()
	if s.connectionID() == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	answer, err := s.do(ctx, http.MethodDelete, "", nil)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
