package fakemodel

import (
	"context"
	"net/http"
)

// Header sets a header of the answer, such as Retry-After. It must be called before output.
func (r *Reply) Header(name, value string) {
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Set(name, value)
}

// Cached sets how many tokens of the input the answer reports as read from a cache.
func (r *Reply) Cached(tokens int) { r.usage.cached = tokens }

// Hang leaves the answer open until the client disconnects.
func (r *Reply) Hang(ctx context.Context) {
	r.broken = true
	if r.stream != nil {
		r.stream.begin()
		r.stream.flush()
	}
	<-ctx.Done()
}

// Garbage streams an event whose data is not JSON.
func (r *Reply) Garbage() {
	r.started = true
	r.stream.writeData(r.enc.eventName(), []byte(`{"type":"oops`))
	r.stream.flush()
}

// Break streams an error in the form of the API and ends the answer without its terminal event.
func (r *Reply) Break(status int, message string) {
	r.started, r.broken = true, true
	body := r.enc.errorBody(status, message)
	if _, ok := r.enc.(*responses); ok {
		body = obj{"type": "error", "code": "server_error", "message": message, "param": nil, "sequence_number": 0}
	}
	r.stream.event(r.enc.errorName(), body)
	r.stream.flush()
}

// Stop ends the answer without its terminal event, and without a failure of the connection.
func (r *Reply) Stop() { r.broken = true }

func (*responses) eventName() string { return "response.output_text.delta" }
func (*messages) eventName() string  { return "content_block_delta" }
func (*chat) eventName() string      { return "" }
func (*gemini) eventName() string    { return "" }

func (*responses) errorName() string { return "error" }
func (*messages) errorName() string  { return "error" }
func (*chat) errorName() string      { return "" }
func (*gemini) errorName() string    { return "" }
