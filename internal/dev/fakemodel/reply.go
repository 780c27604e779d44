package fakemodel

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Stop is a stop reason.
type Stop int

// Stop reasons. Reply.Call sets StopTool.
const (
	StopEnd Stop = iota
	StopTool
	StopMaxTokens
	StopRefusal
	StopBadCall // of Gemini alone: the model wrote a call that cannot be read
)

// Script answers one request. It runs on the goroutine of the request and may block on channels and
// on ctx, which ends when the client disconnects. Output is on the wire when each call returns.
// Returning ends the message of the model.
type Script func(ctx context.Context, req Request, out *Reply)

// Turns returns a Script that answers the n-th request with the n-th of list, and all later ones
// with the last.
func Turns(list ...Script) Script {
	return func(ctx context.Context, req Request, out *Reply) {
		list[min(req.N, len(list)-1)](ctx, req, out)
	}
}

// Say returns a Script that streams chunks of text.
func Say(chunks ...string) Script {
	return func(_ context.Context, _ Request, out *Reply) {
		for _, c := range chunks {
			out.Text(c)
		}
	}
}

// part is a piece of output. Exactly one of text, thought and call is set.
type part struct {
	text, thought string
	call          *call
}

type call struct {
	id, name string
	args     json.RawMessage
}

// encoder encodes a reply for one API. emit is called for each part of a stream, end once after the
// last part. complete encodes a reply without streaming. number is called before all of them.
type encoder interface {
	number(n int)
	emit(s *stream, p part)
	end(s *stream, stop Stop, u usage)
	complete(parts []part, stop Stop, u usage) any
	errorBody(status int, message string) any
	eventName() string // of a piece of text
	errorName() string // of an error in the stream
}

// numbered is part of each encoder: the number of the reply, which makes its ids unique. Clients
// join messages that have the same id.
type numbered struct{ n int }

func (r *numbered) number(n int) { r.n = n }

func (r *numbered) id(kind string) string { return fmt.Sprintf("%s_fake_%d", kind, r.n) }

// usage is estimated from sizes, so it is deterministic.
type usage struct{ input, output, cached int }

// Reply is the output of a Script. Only the goroutine of the Script may use it.
type Reply struct {
	enc     encoder
	stream  *stream // nil: collect parts and send them at the end
	parts   []part
	started bool
	stop    Stop
	usage   usage
	calls   int
	prefix  string

	status  int // HTTP status of a failure, or 0
	message string
	body    any // of a failure; nil: the form of the API, with message
	header  http.Header
	broken  bool // the stream has no terminal event
}

// Text streams a chunk of the answer.
func (r *Reply) Text(chunk string) { r.send(part{text: chunk}, len(chunk)) }

// Reasoning streams a chunk of reasoning.
func (r *Reply) Reasoning(chunk string) { r.send(part{thought: chunk}, len(chunk)) }

// Call calls a tool. args must marshal to a JSON object, or to a string for a custom tool of the
// Responses API.
func (r *Reply) Call(name string, args any) {
	b, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("fakemodel: arguments of %s: %v", name, err))
	}
	r.calls++
	r.stop = StopTool
	r.send(part{call: &call{id: fmt.Sprintf("call_%s_%d", r.prefix, r.calls), name: name, args: b}}, len(b))
}

// End sets a stop reason other than StopEnd and StopTool.
func (r *Reply) End(why Stop) { r.stop = why }

// Fail answers with an HTTP error in the form of the API. It panics after Text, Reasoning or Call:
// the status is already sent.
func (r *Reply) Fail(status int, message string) {
	if r.started {
		panic("fakemodel: Fail after output")
	}
	r.status, r.message = status, message
}

// FailWith answers with an HTTP error and a body of its provider. It panics as Fail does.
func (r *Reply) FailWith(status int, body any) {
	r.Fail(status, "")
	r.body = body
}

// Repeat streams chunk and a number at every interval until ctx ends. The number avoids the loop
// detection of agents.
func (r *Reply) Repeat(ctx context.Context, chunk string, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for i := 1; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.Text(fmt.Sprintf("%s%d ", chunk, i))
		}
	}
}

// Cut aborts the connection, like a network failure. It does not return.
func (r *Reply) Cut() { panic(http.ErrAbortHandler) }

func (r *Reply) send(p part, size int) {
	r.started = true
	r.usage.output += 1 + size/4
	if r.stream != nil {
		r.enc.emit(r.stream, p)
		r.stream.flush()
		return
	}
	if n := len(r.parts); n > 0 && r.parts[n-1].continues(p) {
		r.parts[n-1].text += p.text
		r.parts[n-1].thought += p.thought
		return
	}
	r.parts = append(r.parts, p)
}

// continues reports whether next can be appended to p.
func (p part) continues(next part) bool {
	return p.call == nil && next.call == nil && (p.text != "") == (next.text != "")
}
