//go:build interop

package sandcastle

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A seat is a client of ours that follows a session and folds what it sees, as a screen does.
type seat struct {
	t       *testing.T
	client  *wsclient.Client
	session string
	in      chan wsclient.Item
	errs    chan error
	state   *protocol.State
	story   *protocol.Transcript
	resets  int // states that came in place of what was known
	leave   func()
}

// sit follows a session; it is attached when this returns.
func sit(t *testing.T, c *wsclient.Client, session string) *seat {
	t.Helper()
	s := &seat{t: t, client: c, session: session, in: make(chan wsclient.Item, 1<<15), errs: make(chan error, 1), story: &protocol.Transcript{}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for it, err := range c.Subscribe(session, wsclient.SubscribeOptions{}).Events(ctx) {
			if err != nil {
				s.errs <- err
				return
			}
			s.in <- it
		}
	}()
	s.leave = func() { cancel(); <-done }
	t.Cleanup(s.leave)
	s.until("attached", func() bool { return s.state != nil })
	return s
}

// until takes in what comes until something is so.
func (s *seat) until(what string, so func() bool) {
	s.t.Helper()
	late := time.After(patience)
	for !so() {
		select {
		case it := <-s.in:
			s.take(it)
		case err := <-s.errs:
			s.t.Fatalf("%s: %v", what, err)
		case <-late:
			s.t.Fatalf("not %s: %s\n%s", what, protocol.MustEncode(s.state), protocol.MustEncode(s.story))
		}
	}
}

func (s *seat) take(it wsclient.Item) {
	s.t.Helper()
	switch {
	case it.Attached != nil && it.Attached.Snapshot != nil:
		if s.state != nil {
			s.resets++
		}
		s.state, s.story = it.Attached.Snapshot.State, &protocol.Transcript{}
		s.recall(it.Attached.After.Seq)
	case it.Event != nil && it.Event.Durable():
		must(s.t, s.state.Apply(it.Event))
		_, err := s.story.Apply(it.Event)
		must(s.t, err)
	}
}

// recall reads the turns up to seq, page by page.
func (s *seat) recall(seq uint64) {
	s.t.Helper()
	var events []json.RawMessage
	for more := seq > 0; more; {
		page := do[protocol.HistoryResult](s.t, s.client, protocol.DoHistory, s.session, protocol.HistoryData{Before: seq + 1, Limit: 100})
		events = append(page.Events, events...)
		seq, more = page.First-1, page.More
	}
	for _, line := range events {
		var e protocol.Event
		must(s.t, json.Unmarshal(line, &e))
		_, err := s.story.Apply(&e)
		must(s.t, err)
	}
}

// ended returns a condition: the turn that a message began is over.
func (s *seat) ended(message string) func() bool {
	return func() bool {
		t := s.turn(message)
		return t != nil && t.End != nil
	}
}

// turn is the newest one that a message of that text began, or nil.
func (s *seat) turn(message string) *protocol.Turn {
	for i := len(s.story.Turns) - 1; i >= 0; i-- {
		if t := s.story.Turns[i]; t.Message.Text == message {
			return t
		}
	}
	return nil
}

// said is what the agent said in the turn that a message began.
func (s *seat) said(message string) string {
	var b strings.Builder
	if t := s.turn(message); t != nil {
		for _, it := range t.Items {
			if it.Kind == protocol.ItemText {
				b.Write(it.Text)
			}
		}
	}
	return b.String()
}

func (s *seat) send(text string) protocol.SendResult {
	s.t.Helper()
	return do[protocol.SendResult](s.t, s.client, protocol.DoSend, s.session, protocol.SendData{Text: text})
}

func (s *seat) interrupt() protocol.InterruptResult {
	s.t.Helper()
	return do[protocol.InterruptResult](s.t, s.client, protocol.DoInterrupt, s.session, protocol.InterruptData{})
}
