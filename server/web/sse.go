package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session"
)

const (
	eventStream = "text/event-stream"
	sseBatch    = 64 << 10 // bytes of events in one write
	ssePing     = 30 * time.Second
	lastWrite   = time.Second // for a client to receive the rest of a stream whose request has ended
)

// Names of server-sent events. All others have no name.
const (
	sseReset  = "reset"
	sseList   = "list"
	sseFailed = "failed" // the last of a stream that the server ends, with the error
)

// events streams a session's events: all, or the events after the position in Last-Event-ID or
// ?since=. The id of an event is its position, so that a browser resumes automatically. Events are
// unnamed, except that an event "reset" answers a position that is no longer valid: it carries the
// snapshot of the last turn boundary, and the events after it follow. An event "failed" carries the
// error that ends the stream. ?fold=1 allows folded runs.
func (a *api) events(w http.ResponseWriter, r *http.Request, _ *Route) error {
	query := r.URL.Query()
	position, err := protocol.ParsePosition(cmp.Or(r.Header.Get("Last-Event-ID"), query.Get("since"), "0"))
	if err != nil {
		return err
	}
	at, sub, detach, err := a.attach(r, r.PathValue("id"), position)
	if err != nil {
		return err
	}
	defer detach()
	s := newStream(r.Context(), w)
	defer s.close()
	if r.Method == http.MethodHead {
		return nil
	}
	s.fold = query.Get("fold") == "1"
	if err := a.stream(r, s, sub, at); err != nil {
		s.fail(err)
	}
	return nil
}

// stream writes events until the client disconnects or the session is deleted.
func (a *api) stream(r *http.Request, s *stream, sub *subscriber, at *session.Attachment) error {
	if at.Result.Mode == protocol.ModeReset {
		s.event(sseReset, at.Result.After.String(), protocol.MustEncode(at.Result))
	}
	s.flush() // headers included: the client sees that it is connected
	read := cursor{log: at.Log, after: at.Result.After.Seq, fold: s.fold}
	sent, before := 0, read.after
	write := func(lines []byte) {
		sent = len(lines)
		s.writeEvents(at.Result.After.Epoch, lines)
	}
	sub.after.Store(read.after)
	ping := time.Tick(ssePing)
	for s.err == nil {
		more, err := read.next(r.Context(), write)
		if r.Context().Err() != nil {
			return Ended(r.Context())
		}
		if errors.Is(err, eventlog.ErrNotFound) {
			return protocol.Errorf(protocol.CodeNoSession, "the session was removed")
		}
		if err != nil {
			a.Log.Error("read log", "session", at.Result.Session, "err", err)
			return eventlog.ReadErrorFor(at.Result.Session, err)
		}
		if more {
			if a.Delivered != nil {
				a.Delivered(read.after-before, sent)
			}
			before = read.after
			sub.after.Store(read.after)
			continue
		}
		select {
		case <-sub.wake:
		case <-ping:
			if _, err := a.Hub.Sessions().Resolve(at.Result.Session); err != nil {
				return protocol.Errorf(protocol.CodeNoSession, "the session was removed")
			}
			s.ping()
		case <-r.Context().Done():
			return Ended(r.Context())
		}
	}
	return nil
}

// Ended returns the error of a request that ended: why the server ended it, or that the client did.
func Ended(ctx context.Context) error {
	err := context.Cause(ctx)
	var coded *protocol.Error
	if errors.As(err, &coded) {
		return coded
	}
	return protocol.Errorf(protocol.CodeShuttingDown, "the request ended")
}

// A stream writes server-sent events. After an error it writes nothing.
type stream struct {
	w       *body
	ctx     context.Context // of the request
	stop    func() bool     // ends the watch of ctx
	hurried chan struct{}   // closed when the watch has shortened the deadline
	fold    bool
	out     []byte
	err     error
}

// newStream returns a stream as the answer to a request. When the request ends, a client that does
// not read has lastWrite for the rest.
func newStream(ctx context.Context, w http.ResponseWriter) *stream {
	h := w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	s := &stream{w: newBody(w), ctx: ctx, hurried: make(chan struct{})}
	s.stop = context.AfterFunc(ctx, func() {
		defer close(s.hurried)
		_ = s.w.control.SetWriteDeadline(time.Now().Add(lastWrite))
	})
	return s
}

// close leaves the connection to other requests.
func (s *stream) close() {
	if !s.stop() {
		<-s.hurried
	}
	_ = s.w.control.SetWriteDeadline(time.Time{})
}

// event adds an event to the output. Empty: without a name, without an id.
func (s *stream) event(name, id string, data []byte) {
	if name != "" {
		s.out = append(append(append(s.out, "event: "...), name...), '\n')
	}
	if id != "" {
		s.out = append(append(append(s.out, "id: "...), id...), '\n')
	}
	s.out = append(append(append(s.out, "data: "...), data...), "\n\n"...)
}

// outputs holds buffers for the output of events, so that a waiting stream has none.
var outputs = sync.Pool{New: func() any { b := make([]byte, 0, sseBatch+sseBatch/2); return &b }}

// writeEvents writes the lines of stored events, each with its position as id.
func (s *stream) writeEvents(epoch string, lines []byte) {
	out, kept := outputs.Get().(*[]byte), s.out
	s.out = append((*out)[:0], s.out...)
	id := append(append([]byte("id: "), epoch...), ':')
	var seq []byte
	var at int
	for line := range bytes.Lines(lines) {
		seq, at = eventlog.SeqOf(line, at)
		s.out = append(append(s.out, id...), seq...)
		s.out = append(append(s.out, "\ndata: "...), line...)
		s.out = append(s.out, '\n')
	}
	s.flush()
	*out, s.out = s.out, kept[:0]
	outputs.Put(out)
}

// ping writes a comment.
func (s *stream) ping() {
	s.out = append(s.out, ": \n\n"...)
	s.flush()
}

// fail writes the error that ends the stream.
func (s *stream) fail(err error) {
	s.event(sseFailed, "", protocol.MustEncode(Failure{protocol.AsError(err)}))
	s.flush()
}

// flush writes the output, within writeTimeout, or lastWrite after the end of the request.
func (s *stream) flush() {
	if s.err != nil {
		return
	}
	if s.err = s.w.control.SetWriteDeadline(time.Now().Add(writeTimeout)); s.err != nil {
		return
	}
	if s.ctx.Err() != nil { // the function of newStream may have set it before
		_ = s.w.control.SetWriteDeadline(time.Now().Add(lastWrite))
	}
	if _, s.err = s.w.ResponseWriter.Write(s.out); s.err == nil {
		s.err = s.w.control.Flush()
	}
	s.out = s.out[:0]
}

// A subscriber is the session.Subscriber of a stream. It drops ephemeral events.
type subscriber struct {
	id    string
	by    protocol.Actor
	wake  chan struct{}
	after atomic.Uint64 // seq of the last event written
}

var _ session.Subscriber = (*subscriber)(nil)

// Wake implements eventlog.Waker.
func (s *subscriber) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *subscriber) ID() string                   { return s.id }
func (s *subscriber) Actor() protocol.Actor        { return s.by }
func (s *subscriber) Program() string              { return "sse" }
func (s *subscriber) Notify(string, []byte)        {}
func (s *subscriber) Acked(string) (uint64, int64) { return s.after.Load(), 0 }

// A cursor is a reader's place in a session's log.
type cursor struct {
	log   *eventlog.Log
	after uint64
	fold  bool
}

// next calls f with the next lines and moves on. It reports whether there were any. f must neither
// keep nor change the lines: they may be part of the log, which other readers read.
func (c *cursor) next(ctx context.Context, f func(lines []byte)) (bool, error) {
	lines, last, err := c.log.Read(ctx, c.after, c.fold, sseBatch)
	if err != nil || last == c.after {
		return false, err
	}
	f(lines)
	c.after = last
	return true, nil
}
