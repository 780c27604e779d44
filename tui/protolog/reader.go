package protolog

import (
	"context"
	"fmt"
	"time"
)

// maxOpen bounds the questions whose answers are waited for.
const maxOpen = 1024

// A Reader reads a log's messages, each once, and pairs answers with what they
// answer. One goroutine at a time may use it.
type Reader struct {
	log  *Log
	at   uint64              // number of the last frame read
	open map[string]question // by id
}

type question struct {
	kind string
	at   time.Time
}

// An Answer says when the message that was sent with an id was answered.
type Answer struct {
	ID      string
	Latency time.Duration
}

// Reading is what Reader.Next gives.
type Reading struct {
	Messages []Message
	Answers  []Answer // to messages of this reading and of those before it
}

// NewReader reads a log from its oldest frame.
func NewReader(l *Log) *Reader { return &Reader{log: l, open: map[string]question{}} }

// Next waits for messages. The error is the context's.
func (r *Reader) Next(ctx context.Context) (Reading, error) {
	frames, err := r.log.After(ctx, r.at)
	if err != nil {
		return Reading{}, err
	}
	var out Reading
	for _, f := range frames {
		if lost := f.Number - r.at - 1; lost > 0 {
			out.Messages = append(out.Messages, Message{
				Frame: f.Number, Time: f.Time, Note: true, Kind: "gap", Text: fmt.Appendf(nil, "%d frames before this one are not kept any more", lost),
			})
		}
		r.at = f.Number
		if f.Note != "" {
			clear(r.open) // a new connection counts its ids anew
		}
		for _, m := range messages(f) {
			r.pair(&m, &out)
			out.Messages = append(out.Messages, m)
		}
	}
	return out, nil
}

func (r *Reader) pair(m *Message, out *Reading) {
	if m.ID == "" {
		return
	}
	if m.Sent {
		if len(r.open) == maxOpen {
			clear(r.open)
		}
		r.open[m.ID] = question{m.Kind, m.Time}
		return
	}
	q, ok := r.open[m.ID]
	if !ok {
		return
	}
	delete(r.open, m.ID)
	m.Latency, m.Answered = m.Time.Sub(q.at), true
	if m.Kind == "answer" || m.Bad {
		m.Kind = q.kind + " " + m.Kind
	}
	out.Answers = append(out.Answers, Answer{m.ID, m.Latency})
}
