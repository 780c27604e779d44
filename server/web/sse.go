package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"

	"agentctl/protocol"
	"agentctl/server/session"
)

const (
	sseBatch        = 64 << 10 // bytes of events in one write
	sseWriteTimeout = time.Minute
	ssePing         = 30 * time.Second
)

// events streams a session's events: all, or those after the position in Last-Event-ID or ?since=.
// The id of an event is its position, so that a browser resumes by itself. Events are unnamed,
// except that an event "reset" answers a position that is no longer valid: it carries the snapshot
// of the last turn boundary, and the events after it follow. ?fold=1 allows folded runs.
func (a *api) events(w http.ResponseWriter, r *http.Request) {
	since := r.Header.Get("Last-Event-ID")
	if since == "" {
		since = r.URL.Query().Get("since")
	}
	if since == "" {
		since = "0"
	}
	at, err := protocol.ParsePosition(since)
	if err != nil {
		a.fail(w, err)
		return
	}
	sub := &subscriber{id: session.NewEpoch(), wake: make(chan struct{}, 1), name: RemoteName(r)}
	type result struct {
		attached *session.Attachment
		err      error
	}
	results := make(chan result, 1)
	a.hub.Attach(
		r.Context(),
		r.PathValue("id"),
		sub,
		&protocol.SubscribeData{Position: &at},
		func(at *session.Attachment, err error) {
			results <- result{at, err}
		},
	)
	got := <-results
	if got.err != nil {
		a.fail(w, got.err)
		return
	}
	attached := got.attached
	defer a.hub.Detach(attached.Result.Session, sub.id, "")
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return
	}
	s := &stream{w: w, control: http.NewResponseController(w), fold: r.URL.Query().Get("fold") == "1"}
	a.stream(r, s, sub, attached)
}

// stream writes events until the client disconnects or the session is deleted.
func (a *api) stream(r *http.Request, s *stream, sub *subscriber, at *session.Attachment) {
	if at.Result.Mode == protocol.ModeReset {
		s.out = append(s.out, "event: reset\n"...)
		s.event(at.Result.After, protocol.MustEncode(at.Result))
	}
	s.flush() // headers included: the client sees that it is connected
	after, epoch := at.Result.After.Seq, at.Result.After.Epoch
	sub.after.Store(after)
	var buf []byte
	ping := time.NewTicker(ssePing)
	defer ping.Stop()
	for {
		lines, last, err := at.Log.Read(r.Context(), after, s.fold, sseBatch, buf[:0])
		if err != nil {
			return
		}
		if last == after {
			select {
			case <-sub.wake:
			case <-ping.C:
				if _, err := a.hub.Resolve(at.Result.Session); err != nil {
					return // deleted
				}
				s.out = append(s.out, ": \n\n"...)
				s.flush()
			case <-r.Context().Done():
				return
			}
			if s.err != nil {
				return
			}
			continue
		}
		for line := range bytes.Lines(lines) {
			var e protocol.Event
			_ = json.Unmarshal(line, &e) // encoded by this program
			s.event(protocol.Position{Epoch: epoch, Seq: e.Seq}, bytes.TrimSuffix(line, []byte("\n")))
		}
		if s.flush(); s.err != nil {
			return
		}
		after = last
		sub.after.Store(after)
	}
}

// A stream writes server-sent events. After an error it writes nothing.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	fold    bool
	out     []byte
	err     error
}

// event adds an event to the output.
func (s *stream) event(at protocol.Position, data []byte) {
	s.out = append(s.out, "id: "...)
	s.out = append(s.out, at.String()...)
	s.out = append(s.out, "\ndata: "...)
	s.out = append(s.out, data...)
	s.out = append(s.out, "\n\n"...)
}

// flush writes the output, within sseWriteTimeout.
func (s *stream) flush() {
	if s.err != nil {
		return
	}
	if s.err = s.control.SetWriteDeadline(time.Now().Add(sseWriteTimeout)); s.err != nil {
		return
	}
	if _, s.err = s.w.Write(s.out); s.err == nil {
		s.err = s.control.Flush()
	}
	s.out = s.out[:0]
}

// A subscriber is the session.Subscriber of a stream. It drops ephemeral events.
type subscriber struct {
	id, name string
	wake     chan struct{}
	after    atomic.Uint64 // seq of the last event written
}

var _ session.Subscriber = (*subscriber)(nil)

// Wake implements session.Waker.
func (s *subscriber) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *subscriber) ID() string                   { return s.id }
func (s *subscriber) Actor() protocol.Actor        { return protocol.Actor{Name: s.name} }
func (s *subscriber) Program() string              { return "sse" }
func (s *subscriber) Notify(string, []byte)        {}
func (s *subscriber) Acked(string) (uint64, int64) { return s.after.Load(), 0 }
