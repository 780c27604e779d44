package fakemodel

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Stop says why the model ended its message.
type Stop int

// The reasons a wire form can carry. StopTool is implied by Reply.Call.
const (
	StopEnd Stop = iota
	StopTool
	StopMaxTokens
	StopRefusal
)

// Script answers one request. It runs on the request's goroutine, so it may block on channels and on ctx, which ends
// when the agent goes away. What it wrote is on the wire when the call returns; returning ends the model's message.
type Script func(ctx context.Context, req Request, out *Reply)

// Turns is a Script that answers its n-th request with the n-th of list, and all further ones with the last.
func Turns(list ...Script) Script {
	return func(ctx context.Context, req Request, out *Reply) {
		list[min(req.N, len(list)-1)](ctx, req, out)
	}
}

// Say is a Script that streams each chunk of text.
func Say(chunks ...string) Script {
	return func(_ context.Context, _ Request, out *Reply) {
		for _, c := range chunks {
			out.Text(c)
		}
	}
}

// part is one thing the model said. Exactly one of text, thought and call is set.
type part struct {
	text, thought string
	call          *call
}

type call struct {
	id, name string
	args     json.RawMessage
}

// encoder is one wire form of a reply. emit is called for every part as it is said, end once after the last; whole is
// the form of a reply that was not to be streamed.
type encoder interface {
	emit(s *stream, p part)
	end(s *stream, stop Stop, u usage)
	whole(parts []part, stop Stop, u usage) any
	fail(status int, message string) any
}

// usage is made up from the sizes, so that it is the same each time.
type usage struct{ input, output int }

// Reply is what a Script writes to. It belongs to the Script's goroutine.
type Reply struct {
	enc    encoder
	stream *stream // nil: collect in parts, send whole
	parts  []part
	said   bool
	stop   Stop
	use    usage
	calls  int
	prefix string

	status  int // of a failure, 0 for none
	message string
}

// Text streams a chunk of the answer.
func (r *Reply) Text(chunk string) { r.say(part{text: chunk}, len(chunk)) }

// Reasoning streams a chunk of the model's thinking.
func (r *Reply) Reasoning(chunk string) { r.say(part{thought: chunk}, len(chunk)) }

// Call calls a tool. args must marshal to a JSON object.
func (r *Reply) Call(name string, args any) {
	b, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("fakemodel: arguments of %s: %v", name, err))
	}
	r.calls++
	r.stop = StopTool
	r.say(part{call: &call{id: fmt.Sprintf("call_%s_%d", r.prefix, r.calls), name: name, args: b}}, len(b))
}

// End sets why the message ends, when it is not StopEnd or StopTool.
func (r *Reply) End(why Stop) { r.stop = why }

// Fail answers with an HTTP error in the API's own form. Only what comes before the first Text, Reasoning or Call can
// fail: later it panics, as the status is on the wire.
func (r *Reply) Fail(status int, message string) {
	if r.said {
		panic("fakemodel: Fail after output")
	}
	r.status, r.message = status, message
}

// Repeat streams chunk and a number, one each interval, until ctx ends. The number keeps agents that watch for a looping
// model quiet.
func (r *Reply) Repeat(ctx context.Context, chunk string, every time.Duration) {
	tick := time.NewTicker(every)
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

// Cut breaks the connection off, as a failing network does. It does not return.
func (r *Reply) Cut() { panic(http.ErrAbortHandler) }

func (r *Reply) say(p part, size int) {
	r.said = true
	r.use.output += 1 + size/4
	if r.stream != nil {
		r.enc.emit(r.stream, p)
		r.stream.flush()
		return
	}
	if n := len(r.parts); n > 0 && r.parts[n-1].joins(p) {
		r.parts[n-1].text += p.text
		r.parts[n-1].thought += p.thought
		return
	}
	r.parts = append(r.parts, p)
}

// joins reports whether next goes on where p ends.
func (p part) joins(next part) bool {
	return p.call == nil && next.call == nil && (p.text != "") == (next.text != "")
}
