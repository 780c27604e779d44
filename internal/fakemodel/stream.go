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
	if !s.started {
		s.started = true
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.w.Header().Set("Cache-Control", "no-cache")
	}
	if name != "" {
		_, _ = fmt.Fprintf(s.w, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(s.w, "data: %s\n\n", data)
}

func (s *stream) flush() {
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}
