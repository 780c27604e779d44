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
type Response struct {
	ID      string
	Latency time.Duration
}

// Batch is what Reader.Next gives.
type Batch struct {
	Messages  []Message
	Responses []Response // to messages of this reading and of those before it
}

// NewReader reads a log from its oldest frame.
func NewReader(l *Log) *Reader { return &Reader{log: l, open: map[string]question{}} }

// Next waits for messages. The error is the context's.
func (r *Reader) Next(ctx context.Context) (Batch, error) {
	frames, err := r.log.After(ctx, r.at)
	if err != nil {
		return Batch{}, err
	}
	var out Batch
	for _, f := range frames {
		if lost := f.Number - r.at - 1; lost > 0 {
			out.Messages = append(out.Messages, Message{
				Frame: f.Number, Time: f.Time, Note: true, Label: "gap", Text: fmt.Appendf(nil, "%d frames before this one are not kept any more", lost),
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

func (r *Reader) pair(m *Message, out *Batch) {
	if m.ID == "" {
		return
	}
	if m.Sent {
		if len(r.open) == maxOpen {
			clear(r.open)
		}
		r.open[m.ID] = question{m.Label, m.Time}
		return
	}
	q, ok := r.open[m.ID]
	if !ok {
		return
	}
	delete(r.open, m.ID)
	m.Latency, m.Answered = m.Time.Sub(q.at), true
	if m.Label == "answer" || m.IsError {
		m.Label = q.kind + " " + m.Label
	}
	out.Responses = append(out.Responses, Response{m.ID, m.Latency})
}
