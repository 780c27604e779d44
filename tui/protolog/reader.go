package protolog

import (
	"context"
	"fmt"
	"time"
)

// maxPending bounds the requests without response.
const maxPending = 1024

// Reader reads each message of a log once and pairs responses with requests. It is not safe for
// concurrent use.
type Reader struct {
	log     *Log
	last    uint64             // number of the last frame read
	pending map[string]request // by ID
}

type request struct {
	label string
	at    time.Time
}

// Response records that a request got its response.
type Response struct {
	ID      string
	Latency time.Duration
}

// Batch is the result of Reader.Next.
type Batch struct {
	Messages  []Message
	Responses []Response // to requests of this batch and of earlier ones
}

// NewReader returns a reader that starts at the oldest frame of the log.
func NewReader(l *Log) *Reader { return &Reader{log: l, pending: map[string]request{}} }

// Next waits for messages and returns them. It fails only with the error of ctx.
func (r *Reader) Next(ctx context.Context) (Batch, error) {
	frames, err := r.log.After(ctx, r.last)
	if err != nil {
		return Batch{}, err
	}
	var out Batch
	for _, f := range frames {
		if lost := f.Number - r.last - 1; lost > 0 {
			out.Messages = append(out.Messages, Message{
				Frame: f.Number, Time: f.Time, Note: true, Label: "gap",
				Text: fmt.Appendf(nil, "%d earlier frames dropped", lost),
			})
		}
		r.last = f.Number
		if f.Note != "" {
			clear(r.pending) // a new connection restarts its IDs
		}
		for _, m := range parseFrame(f) {
			r.matchResponse(&m, &out)
			out.Messages = append(out.Messages, m)
		}
	}
	return out, nil
}

// matchResponse records a request, or pairs a response with its request.
func (r *Reader) matchResponse(m *Message, out *Batch) {
	if m.ID == "" {
		return
	}
	if m.Sent {
		if len(r.pending) == maxPending {
			clear(r.pending)
		}
		r.pending[m.ID] = request{m.Label, m.Time}
		return
	}
	req, ok := r.pending[m.ID]
	if !ok {
		return
	}
	delete(r.pending, m.ID)
	m.Latency, m.Answered = m.Time.Sub(req.at), true
	if m.Label == "answer" || m.IsError {
		m.Label = req.label + " " + m.Label
	}
	out.Responses = append(out.Responses, Response{m.ID, m.Latency})
}
