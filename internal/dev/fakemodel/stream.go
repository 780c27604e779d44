package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// stream writes server-sent events. It ignores write errors: the context of the Script ends when
// the client disconnects.
type stream struct {
	w       http.ResponseWriter
	started bool
	end     string // of lines; empty: a line feed
}

// event writes one event. APIs without event names pass "".
func (s *stream) event(name string, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		panic("fakemodel: marshal event: " + err.Error())
	}
	s.writeData(name, b)
}

func (s *stream) writeData(name string, data []byte) {
	s.begin()
	end := s.end
	if end == "" {
		end = "\n"
	}
	if name != "" {
		_, _ = fmt.Fprintf(s.w, "event: %s%s", name, end)
	}
	_, _ = fmt.Fprintf(s.w, "data: %s%s%s", data, end, end)
}

// begin sets the headers of a stream.
func (s *stream) begin() {
	if s.started {
		return
	}
	s.started = true
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("Cache-Control", "no-cache")
}

func (s *stream) flush() {
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}
