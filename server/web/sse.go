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
	sseBatch = 64 << 10
	sseStall = time.Minute
	ssePing  = 30 * time.Second
)

// events streams a session's events: from the first, or after the position in Last-Event-ID or ?since=. The id of each is its
// position, so that a browser resumes by itself; none has a name, so that one listener hears all. Only a position that no
// longer holds is told by an event named reset; events follow from the last turn boundary, whose snapshot the reset carries.
// ?fold=1 allows folded runs.
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
	f := &follower{id: session.NewEpoch(), wake: make(chan struct{}, 1), name: Peer(r)}
	got := make(chan *session.Attachment, 1)
	failed := make(chan error, 1)
	a.hub.Attach(r.Context(), r.PathValue("id"), f, &protocol.SubscribeData{Position: &at}, func(at *session.Attachment, err error) {
		if err != nil {
			failed <- err
			return
		}
		got <- at
	})
	var attached *session.Attachment
	select {
	case attached = <-got:
	case err := <-failed:
		a.fail(w, err)
		return
	}
	defer a.hub.Detach(attached.Result.Session, f.id, "")
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return
	}
	s := &stream{w: w, control: http.NewResponseController(w), fold: r.URL.Query().Get("fold") == "1"}
	a.stream(r, s, f, attached)
}

// stream writes events until the client goes or the session is deleted.
func (a *api) stream(r *http.Request, s *stream, f *follower, at *session.Attachment) {
	if at.Result.Mode == protocol.ModeReset {
		s.out = append(s.out, "event: reset\n"...)
		s.event(at.Result.After, protocol.MustEncode(at.Result))
	}
	s.flush() // the header too: the client knows that it is connected
	after, epoch := at.Result.After.Seq, at.Result.After.Epoch
	f.after.Store(after)
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
			case <-f.wake:
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
			_ = json.Unmarshal(line, &e) // our own encoding
			s.event(protocol.Position{Epoch: epoch, Seq: e.Seq}, bytes.TrimSuffix(line, []byte("\n")))
		}
		if s.flush(); s.err != nil {
			return
		}
		after = last
		f.after.Store(after)
	}
}

// A stream writes server-sent events; after an error it writes nothing.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	fold    bool
	out     []byte
	err     error
}

func (s *stream) event(at protocol.Position, data []byte) {
	s.out = append(s.out, "id: "...)
	s.out = append(s.out, at.String()...)
	s.out = append(s.out, "\ndata: "...)
	s.out = append(s.out, data...)
	s.out = append(s.out, "\n\n"...)
}

func (s *stream) flush() {
	if s.err != nil {
		return
	}
	if s.err = s.control.SetWriteDeadline(time.Now().Add(sseStall)); s.err != nil {
		return
	}
	if _, s.err = s.w.Write(s.out); s.err == nil {
		s.err = s.control.Flush()
	}
	s.out = s.out[:0]
}

// A follower is the peer behind a stream. It is told nothing ephemeral.
type follower struct {
	id, name string
	wake     chan struct{}
	after    atomic.Uint64 // the seq of the last event written
}

var _ session.Subscriber = (*follower)(nil)

func (f *follower) Wake() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *follower) ID() string                   { return f.id }
func (f *follower) Actor() protocol.Actor        { return protocol.Actor{Name: f.name} }
func (f *follower) Program() string              { return "sse" }
func (f *follower) Notify(string, []byte)        {}
func (f *follower) Acked(string) (uint64, int64) { return f.after.Load(), 0 }
